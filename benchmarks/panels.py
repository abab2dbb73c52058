"""Speed of panels and routing, side by side in one run; and the figures of docs/panels.md.

usage: panels.py [replay DIR | promise]

Without an argument: the exhaustive search of thresholds (strong pool of 5, lenient pool of 10, 50,000 records) against a loop
over the thresholds with scikit-learn's scores; and the resampling analysis (300 repeats, 22 readers, 1,000 papers, pools of 2
to 10, 4 length bins) against scikit-learn's LogisticRegression fitted for each fold of each repeat, on a stated sample.
`replay DIR` (the folder replay_cbfm of the corpora): panels and escalation on recorded decisions of two models.
`promise`: 1,000 simulated reviews a row, and how often the recall of the records still unread falls below what was claimed.
"""

import resource
import sys
import time
from pathlib import Path

import numpy as np
import polars as pl
from scipy import stats
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import precision_score, recall_score

from litcascade.errors import InputError
from litcascade.eval.panels import (
    Candidates,
    Escalation,
    Labelled,
    Pools,
    Rule,
    Votes,
    apply,
    certified_point,
    choose,
    choose_pools,
    describe,
    escalation_bands,
    frontier,
    label,
    operating_points,
    resample,
    score_steps,
    singles,
    split,
    union_steps,
    vote_steps,
    votes_of,
)

RECORDS, STRONG, LENIENT = 50_000, 5, 10
REPEATS, READERS, PAPERS, BINS, FOLDS = 300, 22, 1_000, 4, 5
SAMPLE = 20


def study(records: int, readers: int, seed: int, prevalence: float) -> Labelled:
    """Readers of many qualities, lengths in tokens, and gold."""
    rng = np.random.default_rng(seed)
    gold = rng.random(records) < prevalence
    recall, specificity = rng.uniform(0.6, 0.98, readers), rng.uniform(0.8, 0.99, readers)
    draws = stats.norm.cdf(0.7 * rng.normal(size=(records, 1)) + 0.7 * rng.normal(size=(records, readers)))
    include = np.where(gold[:, None], draws < recall, draws > specificity)
    names = tuple(f"reader{column:02d}" for column in range(readers))
    ids = tuple(f"r{row:06d}" for row in range(records))
    none = np.full(include.shape, np.nan)
    return Labelled(Votes(ids, names, include, np.ones_like(include), none, rng.lognormal(6, 0.5, records)), gold)


def search_by_loop(labelled: Labelled, pools: Pools) -> float:
    """The highest precision at recall >= .95, each pair of thresholds tried by itself."""
    strong, lenient = (labelled.votes.include[:, labelled.votes.columns(pool)] for pool in (pools.strong, pools.lenient))
    best = 0.0
    for high in range(1, STRONG + 2):
        for low in range(1, LENIENT + 2):
            found = (strong.sum(axis=1) >= high) | (lenient.sum(axis=1) >= low)
            if found.any() and recall_score(labelled.gold, found) >= 0.95:
                best = max(best, float(precision_score(labelled.gold, found)))
    return best


def fits_by_loop(labelled: Labelled, repeats: int) -> None:
    """The regressions of so many repeats: one for all train records and one for each fold, on dense columns."""
    for number in range(repeats):
        rng = np.random.default_rng([0, number])
        members = rng.choice(READERS, int(rng.integers(2, 11)), replace=False)
        rows = rng.permutation(PAPERS)[: round(0.7 * PAPERS)]
        tokens = labelled.votes.tokens[rows]
        place = np.searchsorted(np.quantile(tokens, np.arange(1, BINS) / BINS), tokens, side="right")
        votes = np.column_stack([np.ones(len(rows)), labelled.votes.include[np.ix_(rows, members)]])
        columns = np.column_stack([votes[:, 1:], *(np.where((place == b)[:, None], votes, 0) for b in range(BINS))])
        folds = np.arange(len(rows)) % FOLDS
        for fold in range(-1, FOLDS):
            kept = folds != fold
            LogisticRegression(C=1.0, max_iter=1000).fit(columns[kept], labelled.gold[rows][kept])


def speed() -> None:
    """Measure and print."""
    labelled = study(RECORDS, READERS, 1, 0.05)
    pools = choose_pools(labelled, STRONG, LENIENT, 0.0)
    started = time.perf_counter()
    family = union_steps(labelled, pools)
    chosen = choose([family], 0.95).chosen
    ours = time.perf_counter() - started
    started = time.perf_counter()
    best = search_by_loop(labelled, pools)
    theirs = time.perf_counter() - started
    found = chosen.precision.value if chosen else None
    print(f"thresholds: {len(family)} pairs over {RECORDS:,} records in {ours:.3f} s, precision {found:.4f} at recall >= .95")
    print(f"loop with scikit-learn's scores: {theirs:.2f} s, precision {best:.4f}; ratio {theirs / ours:,.0f}")

    papers = study(PAPERS, READERS, 2, 0.1)
    started = time.perf_counter()
    analysis = resample(papers, repeats=REPEATS, bins=(BINS,)).analyse()
    ours = time.perf_counter() - started
    means = ", ".join(f"{name} {mean.value:.3f}" for name, mean in analysis.means.items() if mean.value is not None)
    print(f"resampling: {REPEATS} repeats over {READERS} readers x {PAPERS:,} papers in {ours:.2f} s (F2: {means})")
    started = time.perf_counter()
    fits_by_loop(papers, SAMPLE)
    theirs = (time.perf_counter() - started) / SAMPLE * REPEATS
    print(f"scikit-learn, the fits of {SAMPLE} repeats: {theirs:.1f} s for all {REPEATS}; ratio {theirs / ours:.0f} (fits alone)")
    started = time.perf_counter()
    resample(papers, repeats=REPEATS, bins=(1, 2, 3, 4, 6))
    print(f"the same with the ablation over 1, 2, 3, 4 and 6 bins: {time.perf_counter() - started:.2f} s")
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MiB")


def recorded(folder: Path) -> Labelled:
    """Two models' recorded decisions on 1,098 records; the score is the share of four criteria answered yes by seed 0."""
    frame = pl.read_csv(folder / "cbfm_joined.csv").with_columns(record_id=pl.col("index").cast(pl.String))
    words = {"Yes": "include", "No": "exclude"}
    readings = [
        frame.select(
            "record_id",
            reader=pl.lit(name),
            decision=pl.col(f"{column}_decision").replace_strict(words),
            score=pl.col(f"{column}_criteria_seed0").fill_null("").str.count_matches("Yes") / 4,
        )
        for name, column in (("gpt-3.5", "gpt35_0613"), ("gpt-4", "gpt4_1106"))
    ]
    gold = frame.select("record_id", gold=pl.col("human_accept").replace_strict(words))
    return label(votes_of(pl.concat(readings)), gold)


def families_of(labelled: Labelled) -> list[Candidates]:
    """All rules of two readers with scores."""
    cheap, strong = labelled.votes.readers
    bands = [escalation_bands(labelled, cheap, strong, "vote"), escalation_bands(labelled, cheap, strong, "score")]
    return [singles(labelled), vote_steps(labelled), score_steps(labelled), *bands]


def replay(folder: Path) -> None:
    """Print named rules, the frontier, and operating points chosen on one half and reported on the other."""
    labelled = recorded(folder)
    cheap, strong = labelled.votes.readers
    named: list[Rule] = [families_of(labelled)[0].rule(0), families_of(labelled)[0].rule(1)]
    named += [vote_steps(labelled).rule(0), vote_steps(labelled).rule(1)]
    for by, low, high in (("vote", 1.0, 1.0), ("vote", 0.0, 0.0), ("score", 0.25, 0.75), ("score", 0.25, 1.0)):
        named.append(Escalation(cheap=cheap, strong=strong, low=low, high=high, by="vote" if by == "vote" else "score"))
    print("| rule | TP / FP / FN / TN | recall | precision | records read | gpt-4 asked |\n|---|---|---|---|---|---|")
    for rule in named:
        print(row_of(rule, labelled))
    print("\nfrontier, recall against records read:")
    for point in frontier(families_of(labelled)):
        print(row_of(point.rule, labelled))
    halves = split(pl.DataFrame({"record_id": labelled.votes.record_ids, "gold": labelled.gold}), {"a": 0.5, "b": 0.5}, 1)
    first, second = (labelled.only(halves.filter(pl.col("split") == name)["record_id"].to_list()) for name in "ab")
    for found in operating_points(families_of(first), second, (0.95, 0.75, 0.7)):
        at = found.chosen or found.best
        if at and found.report:
            shown, precision = found.report.recall, found.report.precision
            print(
                f"target {found.target}: {describe(at.rule)}: chosen at {at.recall.value:.3f} / {at.precision.value:.3f}; ",
                end="",
            )
            print(f"reported {shown.value:.3f} (at least {shown.low:.3f}) / {precision.value:.3f}. {found.note}")
    try:
        choose_pools(labelled)
    except InputError as error:
        print(error)


def row_of(rule: Rule, labelled: Labelled) -> str:
    """One rule as a row of the table."""
    applied = apply(rule, labelled.votes)
    c = labelled.confusion(applied.positive)
    counts = f"{c.tp:.0f} / {c.fp:.0f} / {c.fn:.0f} / {c.tn:.0f}"
    read = c.tp + c.fp
    asked = applied.asked[:, 1].sum()
    return f"| {describe(rule)} | {counts} | {c.tp / c.positives:.2f} | {c.tp / max(read, 1):.3f} | {read:.0f} | {asked} |"


SETTINGS = (
    (0.06, 800, 1600, 6000, 0.95),
    (0.10, 500, 1000, 4000, 0.90),
    (0.10, 500, 1000, 4000, 0.95),
    (0.20, 300, 500, 2000, 0.95),
)


def promise() -> None:
    """Print how often the recall of the unread records is below the target: chosen naively, and certified."""
    print("| includes | chosen on | certified on | unread | target | naive, broken | certified, claimed | broken | work saved |")
    print("|---|---|---|---|---|---|---|---|---|")
    for prevalence, one, two, records, target in SETTINGS:
        naive = broken = 0
        saved: list[float] = []
        for seed in range(1000):
            rng = np.random.default_rng([7, seed])
            gold = rng.random(records) < prevalence
            recall, specificity = rng.uniform(0.75, 0.97, 8), rng.uniform(0.75, 0.97, 8)
            noise = stats.norm.cdf(0.5 * rng.normal(size=(records, 1)) + 0.75**0.5 * rng.normal(size=(records, 8)))
            include = np.where(gold[:, None], noise < recall, noise > specificity)
            none = np.full(include.shape, np.nan)
            votes = Votes(tuple(map(str, range(records))), tuple("abcdefgh"), include, np.ones_like(include), none, none[:, 0])
            parts = [Labelled(votes, gold).rows(np.arange(*span)) for span in ((0, one), (one, one + two), (one + two, records))]
            families = [union_steps(parts[0], choose_pools(parts[0], 3, 5, 0.0)), vote_steps(parts[0]), singles(parts[0])]
            chosen = choose(families, target).chosen
            naive += chosen is not None and recall_of(chosen.rule, parts[2]) < target
            found = certified_point(families, parts[1], target, population=records - one)
            if found.rule:
                broken += recall_of(found.rule, parts[2]) < target
                saved.append(1 - float(apply(found.rule, parts[2].votes).positive.mean()))
        unread = records - one - two
        cells = f"{one} | {two} | {unread} | {target} | {naive / 10:.1f} % | {len(saved) / 10:.1f} % | {broken / 10:.1f} %"
        print(f"| {prevalence:.0%} | {cells} | {np.mean(saved):.0%} |")


def recall_of(rule: Rule, labelled: Labelled) -> float:
    """The recall of a rule on the unread records."""
    return float(apply(rule, labelled.votes).positive[labelled.gold].mean())


def main() -> None:
    """Run what was asked for."""
    what = sys.argv[1:]
    if what[:1] == ["replay"] and len(what) == 2:
        replay(Path(what[1]))
    elif what == ["promise"]:
        promise()
    elif not what:
        speed()
    else:
        print((__doc__ or "").split("\n\n")[1])


if __name__ == "__main__":
    main()
