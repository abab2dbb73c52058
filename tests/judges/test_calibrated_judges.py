"""Judges of known sensitivity and specificity over simulated papers, and the borders of support."""

import numpy as np
import pytest

from litcascade.eval.intervals import wilson
from litcascade.eval.judge_calibration import CalibratedShare, ExtractionCounts, JudgeRates, calibrated_recall
from litcascade.pipeline.judging.calibrating import calibrate_field
from litcascade.pipeline.judging.labels import Labels
from litcascade.pipeline.judging.verdicts import Item

SIMULATED = 1000
PAPERS = 200
LABELLED = 120


class Simulation:
    """Two hundred papers of one to four items, true with `share`, judged with these rates; 120 items labelled at random."""

    def __init__(self, rng: np.random.Generator, share: float, q0: float, q1: float) -> None:
        self.papers = np.repeat(np.arange(PAPERS), rng.integers(1, 5, PAPERS))
        self.truth = rng.random(len(self.papers)) < share
        self.judged = rng.random(len(self.papers)) < np.where(self.truth, q1, 1 - q0)
        self.drawn = rng.choice(len(self.papers), LABELLED, replace=False)

    def share(self) -> CalibratedShare:
        """The corrected share from the counts."""
        truth, judged = self.truth[self.drawn], self.judged[self.drawn]
        rates = JudgeRates(
            right0=int((~judged & ~truth).sum()), m0=int((~truth).sum()), right1=int((judged & truth).sum()), m1=int(truth.sum())
        )
        counts = ExtractionCounts(
            matched_gold=int(self.judged.sum()), gold_items=len(self.judged), matched_machine=0, correct_unmatched=0,
            machine_items=0,
        )  # fmt: skip
        return calibrated_recall(counts, rates)

    def items(self) -> list[Item]:
        return [
            Item(f"i{n}", "same_meaning", f"p{paper}", "dose", "x", (), None, bool(said))
            for n, (paper, said) in enumerate(zip(self.papers, self.judged, strict=True))
        ]

    def labels(self) -> Labels:
        return Labels({f"i{n}": bool(self.truth[n]) for n in self.drawn}, (), ())


@pytest.mark.parametrize(("share", "q0", "q1"), [(0.6, 0.7, 0.95), (0.9, 0.8, 0.8), (0.4, 0.9, 0.6)])
def test_the_corrected_interval_covers_where_the_raw_share_is_off(share: float, q0: float, q1: float) -> None:
    rng = np.random.default_rng(20)
    covered = raw_covered = 0
    for number in range(SIMULATED):
        one = Simulation(rng, share, q0, q1)
        found = one.share()
        low, high = found.estimate.low, found.estimate.high
        covered += low is not None and high is not None and low <= share <= high
        bottom, top = wilson(int(one.judged.sum()), len(one.judged))
        raw_covered += bottom <= share <= top
        if number == 0:
            assert calibrate_field("same_meaning", "dose", one.items(), one.labels(), repeats=1).share == found
    assert covered / SIMULATED >= 0.94
    assert raw_covered / SIMULATED < 0.5


def test_resampled_papers_labels_and_ppi_stand_beside_it() -> None:
    one = Simulation(np.random.default_rng(4), 0.6, 0.85, 0.9)
    found = calibrate_field("same_meaning", "dose", one.items(), one.labels(), repeats=400)
    for estimate in (found.share.estimate, found.by_papers.estimate, found.ppi, found.labels):
        assert estimate.low is not None
        assert estimate.high is not None
        assert estimate.low <= 0.6 <= estimate.high
    assert found.sensitivity.n + found.specificity.n == found.labels.n == LABELLED
    assert found.tightness.labels_tighter is not None


def test_items_without_a_verdict_and_labels_that_do_not_count_are_left_out_with_a_count() -> None:
    made = [Item(f"i{n}", "support", f"p{n}", "dose", "x", (), None, None if n < 2 else n % 2 == 0, "lost") for n in range(12)]
    labels = Labels({"i0": True, "i2": True, "i3": False, "gone": True}, ("i4",), ("Ada", "Ben"))
    found = calibrate_field("support", "dose", made, labels, repeats=10)
    assert (found.measure, found.items, found.missing, found.raw.n, found.complete) == ("precision", 12, {"lost": 2}, 10, False)
    assert (found.worst, found.best) == (5 / 12, 7 / 12)
    assert found.left_out == {"people differ": 1, "of an earlier extraction": 1, "without a verdict of the judge": 1}
    assert (found.rates.m0, found.rates.m1) == (1, 1)
    assert found.labels.n == 3


def test_a_field_without_items_has_reasons_and_no_numbers() -> None:
    found = calibrate_field("support", "dose", [], Labels({}, (), ()), repeats=10)
    assert (found.raw.value, found.worst, found.best, found.complete) == (None, None, None, False)
    assert (found.share.support, found.share.estimate.note) == ("unsupported", "no item was judged")
    assert found.labels.note == "no item was labelled"


def at_rates(right0: int, m0: int, right1: int, m1: int, rest: int = 400) -> CalibratedShare:
    """A calibration from so many labelled items, and `rest` items more without a label, half of them accepted."""
    told = {f"a{i}": (i >= right0, False) for i in range(m0)} | {f"b{i}": (i < right1, True) for i in range(m1)}
    items = [Item(name, "same_meaning", name, "dose", name, (), None, judged) for name, (judged, _) in told.items()]
    items += [Item(f"c{i}", "same_meaning", f"c{i}", "dose", "c", (), None, i % 2 == 0) for i in range(rest)]
    labels = Labels({name: correct for name, (_, correct) in told.items()}, (), ())
    return calibrate_field("same_meaning", "dose", items, labels, repeats=1).share


def test_support_turns_at_its_borders() -> None:
    chance = at_rates(50, 100, 50, 100)
    assert (chance.support, chance.estimate.value) == ("unsupported", None)
    weak = at_rates(55, 100, 55, 100)
    assert weak.support == "unstable"
    assert "0.100 above chance" in str(weak.estimate.note)
    assert "above chance" not in str(at_rates(56, 100, 55, 100).estimate.note)
    assert at_rates(0, 0, 9, 10).estimate.note == "no truly incorrect item was labelled"
    assert at_rates(9, 10, 0, 0).estimate.note == "no truly correct item was labelled"
    assert at_rates(16, 20, 8, 10, 20).support == "unstable"
    assert at_rates(90, 100, 90, 100).support == "supported"
