"""The judges' pairwise words as a verdict on every item: is a person's item found, is the extraction's item correct?"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import polars as pl

from litcascade.eval.estimate import Estimate, ratio
from litcascade.pipeline.judging.items import Group
from litcascade.pipeline.judging.units import item_unit, matching_of, scale_unit
from litcascade.store import Store

Name = Literal["same_meaning", "support"]
NAMES: tuple[Name, ...] = ("same_meaning", "support")
UNASKED = "not asked yet"


@dataclass(frozen=True)
class Item:
    """One item that a judge has a verdict on; `judged` None is missing, and `why` says so.

    `same_meaning`: a person's item, found among the extraction's. `support`: an item of the extraction, correct: matched
    with a person's item, or stated in the report. `how` says what an accepted item rests on: `exact` (no model was asked),
    `meaning` or `stated`. `others` are the items of the other side.
    """

    item_id: str
    judge: Name
    record_id: str
    field: str
    text: str
    others: tuple[str, ...]
    document_id: str | None
    judged: bool | None
    why: str | None = None
    how: Literal["exact", "meaning", "stated"] | None = None


@dataclass(frozen=True)
class Leaning:
    """What the judge of pairs leans to in one field (or all): flips of pairs read in both orders, and shares of yes.

    `gold_first` and `model_first`: share of yes by the seat of the person's item, of pairs read in both orders. `longer` and
    `shorter`: share of matches where the model's item is the longer or the shorter one. Fair judges show little difference.
    """

    field: str
    pairs: int
    failed: int
    flips: Estimate
    gold_first: Estimate
    model_first: Estimate
    longer: Estimate
    shorter: Estimate


def in_force(store: Store) -> dict[str, dict[str, Any]]:
    """The newest version of every judge: its fingerprint, reader, model and the model's family."""
    rows = store.rows(
        "select judge, fingerprint, reader, model, family from judge_versions "
        "qualify row_number() over (partition by judge order by seq desc) = 1 order by judge"
    )
    return {row[0]: dict(zip(("fingerprint", "reader", "model", "family"), row[1:], strict=True)) for row in rows}


def judged_items(store: Store, groups: Sequence[Group]) -> list[Item]:
    """Every item of people and of the extraction with the verdict of the judges in force."""
    said = {name: _said(store, in_force(store).get(name, {}).get("fingerprint")) for name in NAMES}
    pairs = {unit: verdict for unit, (verdict, _) in said["same_meaning"].items()}
    asked = bool(in_force(store).get("same_meaning"))
    return [item for group in groups for item in _items(group, pairs, said["support"], asked)]


def _said(store: Store, fingerprint: str | None) -> dict[str, tuple[bool | None, str | None]]:
    rows = store.rows("select unit_id, verdict, code from judgements where fingerprint = ?", [fingerprint])
    return {unit: (verdict, code) for unit, verdict, code in rows}


def _items(
    group: Group, pairs: Mapping[str, bool | None], support: Mapping[str, tuple[bool | None, str | None]], asked: bool
) -> list[Item]:
    matching = matching_of(group, pairs)
    equal = {place for place, _ in matching.exact}, {place for _, place in matching.exact}
    doubt = "a pair it could match was not judged" if asked else UNASKED
    items = []
    for place, item_id in enumerate(group.gold_ids()):
        status = matching.gold[place]
        judged = None if status == "missing" else status == "matched"
        items.append(
            Item(
                item_id, "same_meaning", group.record_id, group.field, group.gold[place], group.found, group.document_id,
                judged, doubt if judged is None else None, _how(judged, status, place in equal[0]),
            )
        )  # fmt: skip
    for place, item_id in enumerate(group.found_ids()):
        status = matching.found[place]
        judged, why = _correct(status, support.get(item_unit(group, place).unit_id, (None, UNASKED)), doubt)
        items.append(
            Item(
                item_id, "support", group.record_id, group.field, group.found[place], group.gold, group.document_id, judged, why,
                _how(judged, status, place in equal[1]),
            )
        )  # fmt: skip
    return items


def _how(judged: bool | None, status: str, exact: bool) -> Literal["exact", "meaning", "stated"] | None:
    if not judged:
        return None
    return "exact" if exact else "meaning" if status == "matched" else "stated"


def _correct(status: str, said: tuple[bool | None, str | None], doubt: str) -> tuple[bool | None, str | None]:
    """Matched or stated; a no counts only where the pairs are beyond doubt too."""
    verdict, code = said
    if status == "matched" or verdict:
        return True, None
    if verdict is None:
        return None, code
    return (None, doubt) if status == "missing" else (False, None)


def frame_of(items: Sequence[Item]) -> pl.DataFrame:
    """The items that have a verdict: columns `item_id`, `paper_id`, `judged`."""
    told = [item for item in items if item.judged is not None]
    return pl.DataFrame(
        {
            "item_id": [item.item_id for item in told],
            "paper_id": [item.record_id for item in told],
            "judged": [item.judged for item in told],
        },
        schema={"item_id": pl.String, "paper_id": pl.String, "judged": pl.Boolean},
    )


def reasons(items: Sequence[Item]) -> dict[str, int]:
    """How many items have no verdict, by reason."""
    return dict(Counter(item.why or "no reason kept" for item in items if item.judged is None))


def leanings(store: Store, groups: Sequence[Group]) -> list[Leaning]:
    """What the judge of pairs leans to, by field; none where it was not asked."""
    fingerprint = in_force(store).get("same_meaning", {}).get("fingerprint")
    rows = store.rows(
        "select field, verdict, first_verdict, second_verdict, length(item) - length(gold) from judgements where fingerprint = ?",
        [fingerprint],
    )
    fields = list(dict.fromkeys(group.field for group in groups))
    return [_leaning(name, [row[1:] for row in rows if row[0] == name]) for name in fields if rows]


def _leaning(name: str, rows: Sequence[tuple[bool | None, bool | None, bool | None, int]]) -> Leaning:
    read = [row for row in rows if row[0] is not None]
    longer, shorter = [row for row in read if row[3] > 0], [row for row in read if row[3] < 0]
    none = "no pair was read in both orders"
    return Leaning(
        field=name,
        pairs=len(rows),
        failed=len(rows) - len(read),
        flips=ratio("flip_rate", sum(first != second for _, first, second, _ in read), len(read), none, len(read)),
        gold_first=ratio("yes_gold_first", sum(bool(row[1]) for row in read), len(read), none, len(read)),
        model_first=ratio("yes_model_first", sum(bool(row[2]) for row in read), len(read), none, len(read)),
        longer=ratio("yes_longer", sum(bool(row[0]) for row in longer), len(longer), "no such pair", len(longer)),
        shorter=ratio("yes_shorter", sum(bool(row[0]) for row in shorter), len(shorter), "no such pair", len(shorter)),
    )


def scores(store: Store, judge: str, groups: Sequence[Group]) -> dict[str, dict[str, float | None]]:
    """The scores of a scale in force by field and unit; None where the judgement failed. What was not asked is absent."""
    said = dict(
        store.rows("select unit_id, score from judgements where fingerprint = ?", [in_force(store)[judge]["fingerprint"]])
    )
    found: dict[str, dict[str, float | None]] = {}
    for group in groups:
        for place in range(len(group.found)):
            unit = scale_unit(group, place).unit_id
            if unit in said:
                found.setdefault(group.field, {})[unit] = said[unit]
    return found
