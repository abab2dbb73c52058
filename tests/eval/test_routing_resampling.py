"""The resampling analysis: deterministic, chosen on train and scored on validation, with honest intervals."""

import numpy as np
import pytest
from scipy import stats

from litcascade.errors import InputError
from litcascade.eval.panels import resample
from litcascade.eval.panels.votes import Labelled
from tests.eval.test_panels import made, study
from tests.eval.test_routing import by_length, whatever_length


def test_the_same_seed_gives_the_same_figures_and_more_repeats_keep_the_first() -> None:
    labelled = study(400, 10, 1)
    one = resample(labelled, repeats=12, seed=3)
    assert one.frame.equals(resample(labelled, repeats=12, seed=3).frame)
    assert one.frame.equals(resample(labelled, repeats=20, seed=3).frame.head(12))
    assert not one.frame.equals(resample(labelled, repeats=12, seed=4).frame)
    assert one.methods == ("single", "votes", "routing@4")
    assert set(one.frame["pool"]) <= set(range(2, 11))
    assert one.frame["pool"].n_unique() > 3


def test_routing_wins_the_analysis_only_where_length_matters() -> None:
    good = resample(by_length(1), repeats=40, pool=(2, 2), bins=(4,)).analyse()
    (contrast,) = [c for c in good.contrasts if (c.first, c.second) == ("routing@4", "single")]
    assert contrast.difference.low is not None
    assert contrast.difference.low > 0
    assert contrast.p_holm is not None
    assert contrast.p_holm < 0.01
    assert contrast.won == 40
    flat = resample(whatever_length(1), repeats=40, pool=(3, 3), bins=(4,)).analyse()
    (contrast,) = [c for c in flat.contrasts if (c.first, c.second) == ("routing@4", "single")]
    assert contrast.difference.low is not None
    assert contrast.difference.low <= 0.005
    assert contrast.p is None or contrast.p > 0.05


def test_the_ablation_over_bins_finds_that_one_bin_is_blind_to_length() -> None:
    found = resample(by_length(2), repeats=20, pool=(2, 2), bins=(1, 2, 3, 4), measure="wmcc@10")
    means = found.analyse().means
    assert found.methods == ("single", "votes", "routing@1", "routing@2", "routing@3", "routing@4")
    assert (means["routing@2"].value or 0) > (means["routing@1"].value or 0) + 0.1
    for mean in means.values():
        assert mean.low is not None
        assert mean.high is not None
        assert -1 <= mean.low < (mean.value or 0) < mean.high <= 1


def test_the_interval_and_the_test_by_hand() -> None:
    found = resample(study(300, 5, 2), repeats=25, pool=(2, 5))
    analysis = found.analyse(0.1)
    change = (found.frame["votes"] - found.frame["single"]).to_numpy()
    (contrast,) = [c for c in analysis.contrasts if (c.first, c.second) == ("votes", "single")]
    error = change.std(ddof=1) * np.sqrt(1 / 25 + 0.3 / 0.7)
    assert contrast.difference.value == pytest.approx(change.mean())
    assert contrast.difference.high == pytest.approx(change.mean() + stats.t.ppf(0.95, 24) * error)
    assert contrast.p == pytest.approx(2 * stats.t.sf(abs(change.mean()) / error, 24))
    assert contrast.won + contrast.lost <= 25
    assert contrast.p_holm is not None
    assert contrast.p_holm >= (contrast.p or 0)


def test_repeats_without_a_value_are_left_out_and_counted() -> None:
    rng = np.random.default_rng(1)
    gold = np.arange(60) < 8
    labelled = made((rng.random((60, 3)) < 0.15) & gold[:, None], gold, tokens=rng.lognormal(6, 0.5, 60))
    found = resample(labelled, repeats=30, pool=(2, 3), bins=(1,))
    lacking = found.frame["single"].null_count()
    assert lacking > 0
    mean = found.analyse().means["single"]
    assert mean.n == 30 - lacking
    assert mean.note == f"undefined in {lacking} of 30 repeats, left out"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"pool": (2, 10)}, "a pool of 10 needs 10 readers; there are 4"),
        ({"pool": (3, 2)}, "pools of 3 to 2 readers"),
        ({"train": 1.0, "pool": (2, 3)}, "train share"),
        ({"measure": "recall", "pool": (2, 3)}, "not compared by 'recall'"),
    ],
)
def test_what_cannot_be_resampled_is_refused(change: dict[str, object], words: str) -> None:
    with pytest.raises(InputError, match=words):
        resample(study(200, 4, 1), repeats=2, **change)  # type: ignore[arg-type]


def test_too_few_of_a_class_or_no_lengths_are_refused() -> None:
    labelled = study(200, 4, 1)
    few = labelled.rows(np.append(np.flatnonzero(labelled.gold)[:2], np.flatnonzero(~labelled.gold)))
    with pytest.raises(InputError, match="each part needs includes and excludes"):
        resample(few, pool=(2, 3))
    votes = made(labelled.votes.include, labelled.gold)
    with pytest.raises(InputError, match="no length"):
        resample(Labelled(votes.votes, votes.gold), pool=(2, 3))
