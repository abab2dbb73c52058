"""Frozen splits: exact or stable, stratified, by hash of the id; and the refusal of leaks."""

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from litcascade.errors import InputError
from litcascade.eval.panels import SPLITS, refuse_leaks, split
from litcascade.eval.panels.splits import hash_of


def gold(n: int, every: int = 20) -> pl.DataFrame:
    return pl.DataFrame(
        {"record_id": [f"r{i}" for i in range(n)], "gold": ["exclude" if i % every else "include" for i in range(n)]}
    )


def sizes(found: pl.DataFrame, frame: pl.DataFrame, side: str | None = None) -> dict[str | None, int]:
    joined = found.join(frame, on="record_id")
    joined = joined if side is None else joined.filter(pl.col("gold") == side)
    return dict(joined["split"].value_counts().iter_rows())


WHOLE = {"development": 10, "few_shot": 190, "evaluation": 1800}


def test_the_split_of_scilitbench_has_exact_sizes_and_shares_of_includes() -> None:
    frame = gold(2000, 40)
    found = split(frame, WHOLE, seed=1)
    assert sizes(found, frame) == WHOLE
    includes = sizes(found, frame, "include")
    assert includes.get("evaluation") == 45
    assert sum(includes.values()) == 50
    assert set(found["split"]) == set(SPLITS)


def test_a_split_depends_on_seed_and_ids_only() -> None:
    frame = gold(300)
    found = split(frame, {"development": 0.2, "evaluation": 0.8}, seed=5)
    assert found.equals(split(frame.sample(fraction=1, shuffle=True, seed=2), {"development": 0.2, "evaluation": 0.8}, seed=5))
    assert not found.equals(split(frame, {"development": 0.2, "evaluation": 0.8}, seed=6))
    # The first 64 bits of `printf "1|r1" | sha256sum`, over 2^64: the same on every machine and in every release.
    assert hash_of("r1", 1) == pytest.approx(0xDBAAEAE94A922C02 / 2**64, abs=1e-15)


def test_a_stable_split_moves_nobody_when_records_are_added() -> None:
    shares = {"development": 0.1, "few_shot": 0.2, "evaluation": 0.6}
    small, large = gold(500), gold(3000)
    before = split(small, shares, seed=1, method="stable")
    after = split(large, shares, seed=1, method="stable")
    both = before.join(after, on="record_id", suffix="_after")
    assert both["split"].equals(both["split_after"].rename("split"), null_equal=True)
    counts = sizes(after, large)
    for name, share in shares.items():
        assert counts[name] == pytest.approx(share * 3000, abs=100)
    assert counts[None] == pytest.approx(300, abs=100)


@settings(deadline=None, max_examples=40)
@given(st.integers(5, 200), st.integers(2, 9), st.integers(0, 5), st.data())
def test_exact_sizes_always_add_up_and_strata_are_within_one(n: int, every: int, seed: int, data: st.DataObject) -> None:
    frame = gold(n, every)
    one = data.draw(st.integers(1, n - 1))
    two = data.draw(st.integers(1, n - one))
    found = split(frame, {"a": one, "b": two}, seed)
    counts = sizes(found, frame)
    assert counts["a"] == one
    assert counts["b"] == two
    assert found["record_id"].n_unique() == n
    includes = frame.filter(pl.col("gold") == "include").height
    assert abs(sizes(found, frame, "include").get("a", 0) - one * includes / n) <= 1


@pytest.mark.parametrize(
    ("wanted", "method", "words"),
    [
        ({}, "exact", "size above 0"),
        ({"a": 0}, "exact", "size above 0"),
        ({"a": 0.7, "b": 0.5}, "exact", "add up to 1.2"),
        ({"a": 90, "b": 20}, "exact", "need 110 records; 100 are labelled"),
        ({"a": 90, "b": 0.5}, "exact", "all shares below 1 or all whole numbers"),
        ({"a": 10}, "stable", "needs shares"),
    ],
)
def test_impossible_splits_are_refused(wanted: dict[str, float], method: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        split(gold(100), wanted, 1, method)  # type: ignore[arg-type]


def test_repeated_ids_are_refused() -> None:
    with pytest.raises(InputError, match="stands twice"):
        split(pl.concat([gold(5), gold(5)]), {"a": 0.5}, 1)


def test_examples_come_from_the_few_shot_split_only() -> None:
    splits = pl.DataFrame({"record_id": ["d", "f", "g", "e"], "split": ["development", "few_shot", "few_shot", "evaluation"]})
    refuse_leaks(["f", "g"], splits)
    with pytest.raises(InputError, match="example 'e' belongs to the split 'evaluation'; few-shot examples come from: few_shot"):
        refuse_leaks(["f", "e"], splits)
    with pytest.raises(InputError, match="'x' stands in no split"):
        refuse_leaks(["x"], splits)
    with pytest.raises(InputError, match="'d' belongs to the split 'development'"):
        refuse_leaks(["d"], splits)
    refuse_leaks(["d"], splits, allowed=("few_shot", "development"))
    refuse_leaks(["f"], splits, same={"f": "s1", "g": "s1", "e": "s2"})
    with pytest.raises(InputError, match="'g' is of the same study as record 'e' of the split 'evaluation'"):
        refuse_leaks(["g"], splits, same={"g": "s2", "e": "s2"})
