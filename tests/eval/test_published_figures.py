"""Figures that others printed, to their last digit. Facts from the papers named in ../shared/reference/README.md."""

import math

import pytest

from litcascade.eval import Confusion, parse_measure
from litcascade.eval.guarantees import certificate, elusion, includes_needed
from litcascade.eval.intervals import most_in_population
from litcascade.eval.paired import relative_gain
from litcascade.eval.sensitivity import best_by_weight, crossovers, rank_reversals, sweep

# classifier, TP, FP, FN, TN, printed: accuracy, recall, Lost Evidence, precision, specificity, F1, MCC, WMCC(10), cost(10)
PRINTED = """
DC+ SR-I: gemma:7b; 0; 0; 172; 4324; 0.9617; 0.00; 1.00; nan; 1.00; nan; nan; nan; 1720
DC+ SR-I: llama3-Athene:70b; 47; 82; 125; 4242; 0.9540; 0.27; 0.73; 0.36; 0.98; 0.31; 0.29; 0.398; 1332
DC+ SR-I: llama3.1:8b; 82; 281; 90; 4048; 0.9180; 0.48; 0.52; 0.23; 0.94; 0.31; 0.29; 0.481; 1181
DC+ SR-I: mistral-nemo:12b; 0; 3; 172; 4326; 0.9611; 0.00; 1.00; 0.00; 1.00; nan; -0.005; -0.014; 1723
SLR1: ChatGPT-4 Likert>=4; 50; 35; 14; 35; 0.634; 0.781; 0.219; -; -; -; 0.292; 0.195; -
SLR1: ChatGPT-4 Likert>=5; 48; 17; 16; 53; 0.753; 0.750; 0.250; -; -; -; 0.507; 0.330; -
SLR2: ChatGPT-4 Likert>=4; 128; 68; 20; 232; 0.803; 0.865; 0.135; -; -; -; 0.605; 0.557; -
SLR2: ChatGPT-4 Likert>=5; 113; 27; 35; 273; 0.861; 0.764; 0.236; -; -; -; 0.683; 0.529; -
RL4SE: ChatGPT; 77; 310; 17; 685; -; -; 0.181; -; -; -; 0.298; 0.511; -
RL4SE: LR; 56; 130; 38; 865; -; -; 0.404; -; -; -; 0.347; 0.485; -
DSMLCompo: ChatGPT; 114; 572; 36; 1961; -; -; 0.240; -; -; -; 0.281; 0.522; -
DSMLCompo: CNB; 112; 790; 38; 1743; -; -; 0.253; -; -; -; 0.211; 0.421; -
UpdateCollabMDE: ChatGPT; 51; 286; 6; 532; -; -; 0.105; -; -; -; 0.276; 0.542; -
UpdateCollabMDE: SVC; 27; 123; 30; 695; -; -; 0.526; -; -; -; 0.212; 0.353; -
MobileMDE: ChatGPT; 47; 50; 8; 187; -; -; 0.145; -; -; -; 0.534; 0.624; -
MobileMDE: SVC; 40; 45; 15; 192; -; -; 0.273; -; -; -; 0.463; 0.497; -
MPM4CPS: ChatGPT; 79; 31; 28; 67; -; -; 0.262; -; -; -; 0.423; 0.256; -
MPM4CPS: RF; 35; 18; 72; 80; -; -; 0.673; -; -; -; 0.164; 0.086; -
SESR-Eval 9,695-article study: Claude 3.7 Sonnet; 189; 213; 326; 8967; 0.944; -; 0.633; -; -; -; 0.387; 0.466; -
SESR-Eval 9,695-article study: GPT-4.1 mini; 289; 331; 226; 8849; 0.943; -; 0.439; -; -; -; 0.481; 0.604; -
SESR-Eval 9,695-article study: GPT-4o; 485; 1743; 30; 7437; 0.817; -; 0.058; -; -; -; 0.401; 0.724; -
SESR-Eval 9,695-article study: gpt-4.1-nano; 505; 7598; 10; 1582; 0.215; -; 0.019; -; -; -; 0.093; 0.228; -
SESR-Eval 9,695-article study: Ministral 8B; 515; 9180; 0; 0; 0.053; -; 0.000; -; -; -; nan; nan; -
"""

MEASURES = ("accuracy", "recall", "lost_evidence", "precision", "specificity", "f@1", "mcc", "wmcc@10", "cost@10")
USE_CASES = [
    ("A1", 90, 9, 1, 0, 0.9, 0.95, -0.03),
    ("A2", 5, 6, 70, 19, 0.24, 0.12, -0.24),
    ("B1", 47, 45, 3, 5, 0.52, 0.66, 0.07),
    ("B2", 10, 4, 40, 46, 0.56, 0.31, 0.17),
    ("C1", 9, 89, 1, 1, 0.1, 0.17, -0.19),
    ("C2", 2, 1, 9, 88, 0.9, 0.29, 0.31),
]


def table() -> list[tuple[str, Confusion, list[str]]]:
    rows = []
    for line in PRINTED.strip().splitlines():
        name, tp, fp, fn, tn, *printed = [part.strip() for part in line.split(";")]
        rows.append((name, Confusion(tp=float(tp), fp=float(fp), fn=float(fn), tn=float(tn)), printed))
    return rows


@pytest.mark.parametrize(("name", "c", "printed"), table(), ids=[row[0] for row in table()])
def test_all_published_matrices_reproduce_to_the_printed_digit(name: str, c: Confusion, printed: list[str]) -> None:
    assert name
    for measure, text in zip(MEASURES, printed, strict=True):
        if text == "-":
            continue
        value = parse_measure(measure)(c).value
        if text.lower() == "nan":
            assert value is None, measure
            continue
        digits = len(text.partition(".")[2])
        slack = 1e-3 if measure == "accuracy" else 0.5 * 10**-digits + 1e-9  # three printed accuracies are cut, not rounded
        assert value is not None, measure
        assert abs(value - float(text)) <= slack, (measure, value, text)


def test_there_are_twenty_three() -> None:
    assert len(table()) == 23


@pytest.mark.parametrize(("name", "tp", "fp", "fn", "tn", "accuracy", "f1", "mcc"), USE_CASES)
def test_the_six_use_cases(name: str, tp: int, fp: int, fn: int, tn: int, accuracy: float, f1: float, mcc: float) -> None:
    c = Confusion(tp=tp, fp=fp, fn=fn, tn=tn)
    for measure, printed in (("accuracy", accuracy), ("f@1", f1), ("mcc", mcc)):
        value = parse_measure(measure)(c).value
        assert value is not None
        assert abs(value - printed) <= 0.005 + 1e-9, (name, measure)


def rl4se() -> dict[str, Confusion]:
    return {name.partition(": ")[2]: c for name, c, _ in table() if name.startswith("RL4SE")}


def test_the_crossover_on_rl4se_lies_between_six_and_seven() -> None:
    pair = rl4se()
    (w,) = crossovers(pair["ChatGPT"], pair["LR"])
    assert 6 < w < 7
    grid = sweep(pair, [6, 7]).rows()
    found = {(name, weight): value for name, weight, value in grid}
    assert round(found["ChatGPT", 6.0], 4) == 0.4878
    assert round(found["LR", 6.0], 4) == 0.4882
    assert round(found["ChatGPT", 7.0], 4) == 0.4971
    assert round(found["LR", 7.0], 4) == 0.4898
    assert [span.classifier for span in best_by_weight(pair)] == ["LR", "ChatGPT"]
    assert rank_reversals(pair).select("better_by", "worse_by").rows() == [("accuracy", "wmcc@10"), ("mcc", "wmcc@10")]


def test_golden_guarantees() -> None:
    assert certificate(47, 47).low == pytest.approx(0.938, abs=5e-4)
    audit = elusion(36816, 500, 2, 1819)
    assert audit.most_missed == 459
    assert audit.recall_low is not None
    assert math.floor(audit.recall_low * 1000) / 1000 == 0.798
    assert [includes_needed(0.95, misses) for misses in range(4)] == [59, 93, 124, 153]
    assert [most_in_population(0, n, 8000) for n in (50, 300, 600)] == [463, 77, 38]


# F2 of 22 models, SciLitBench (arXiv 2609.05505), Supplementary Tables 2 (zero-shot) and 3
F2 = {
    "basic": "0.148 0.179 0.253 0.620 0.686 0.178 0.438 0.268 0.295 0.421 0.115 0.327 0.251 0.345 0.637 0.023 0.206 0.000 0.666 0.761 0.706 0.657",
    "incl": "0.186 0.212 0.293 0.655 0.681 0.360 0.567 0.213 0.535 0.598 0.195 0.579 0.497 0.478 0.610 0.076 0.217 0.000 0.646 0.720 0.567 0.682",
    "incl_excl": "0.157 0.257 0.421 0.628 0.697 0.452 0.679 0.287 0.609 0.755 0.186 0.564 0.786 0.482 0.606 0.077 0.246 0.000 0.665 0.749 0.565 0.668",
    "two_step_unstructured": "0.927 0.893 0.920 0.897 0.277 0.630 0.776 0.056 0.932 0.972 0.181 0.897 0.981 0.431 0.758 0.164 0.644 0.209 0.896 0.888 0.737 0.926",
    "two_step_cot": "0.921 0.911 0.948 0.901 0.009 0.628 0.769 0.046 0.916 0.970 0.301 0.772 0.975 0.362 0.627 0.391 0.734 0.787 0.937 0.902 0.823 0.938",
}


def test_gains_that_follow_from_scilitbench() -> None:
    f2 = {name: [float(part) for part in text.split()] for name, text in F2.items()}
    assert {len(values) for values in f2.values()} == {22}
    for after, percent in (("incl", 17.0), ("incl_excl", 28.8)):
        gain = relative_gain(f2["basic"], f2[after]).value
        assert gain is not None
        assert round(100 * gain, 1) == percent
    assert [round(sum(f2[name]) / 22, 3) for name in ("two_step_unstructured", "two_step_cot")] == [0.681, 0.708]
    assert relative_gain([0.0], [1.0]).value is None
