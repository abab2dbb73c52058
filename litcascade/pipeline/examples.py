"""Worked examples out of people's labels and rationales; none may come from the evaluation split."""

from collections.abc import Sequence

import polars as pl

from litcascade.errors import InputError
from litcascade.schemas import Shot
from litcascade.store import Store


def current_splits(store: Store, stage: str) -> tuple[str | None, pl.DataFrame]:
    """The version in force at a stage, None where nothing is split yet, and `record_id`, `split` of its records."""
    version = store.value("select version from split_versions where stage = ? order by seq desc limit 1", [stage])
    rows = store.rows("select record_id, split from splits where version = ? and stage = ?", [version, stage]) if version else []
    return version, pl.DataFrame(rows, schema={"record_id": pl.String, "split": pl.String}, orient="row")


def studies(store: Store) -> dict[str, str]:
    """Record id to study, for records that de-duplication joined or linked."""
    return dict(store.rows("select record_id, coalesce(study_id, kept_id) from current_clusters"))


def require_no_leak(store: Store, stage: str, ids: Sequence[str], *, few_shot_only: bool = False) -> None:
    """Refuse examples of the evaluation split, or of a study that stands there; nothing is refused before records are split."""
    version, splits = current_splits(store, stage)
    if version is None or not ids:
        return
    from litcascade.eval.panels.splits import refuse_leaks

    allowed = ("few_shot",) if few_shot_only else ("few_shot", "development")
    refuse_leaks(ids, splits, allowed, studies(store), unsplit=not few_shot_only)


def examples_for(store: Store, stage: str, reader: str, ids: Sequence[str], *, with_rationales: bool) -> tuple[Shot, ...]:
    """The examples a reader is shown, in the order of `ids`; the label is gold, or what the author of the rationale decided."""
    if not ids:
        return ()
    require_no_leak(store, stage, ids)
    rows = store.rows(
        "select r.record_id, r.title, r.abstract, coalesce(g.decision, w.decision), w.quote, w.reasoning, w.decision "
        "from records r left join current_gold g on g.record_id = r.record_id and g.stage = $stage "
        "left join current_rationales w on w.record_id = r.record_id and w.stage = $stage "
        "where r.record_id in (select unnest($ids::text[]))",
        {"stage": stage, "ids": list(ids)},
    )
    found = {row[0]: row for row in rows}
    shots = []
    for record_id in ids:
        row = found.get(record_id)
        if row is None or row[3] is None:
            raise InputError(
                f"reader '{reader}' names record '{record_id}' as a worked example, but it has no gold label at {stage}; "
                "import one with `litcascade import FILE --as gold`"
            )
        _, title, abstract, decision, quote, reasoning, said = row
        if with_rationales and not reasoning and not quote:
            raise InputError(
                f"reader '{reader}' shows rationales, but record '{record_id}' has none at {stage}; "
                "import them with `litcascade import FILE --as rationales --by NAME`"
            )
        if with_rationales and said and said != decision:
            raise InputError(f"record '{record_id}' is {decision} by gold, but its rationale at {stage} argues for {said}")
        why = {"quote": quote, "reasoning": reasoning} if with_rationales else {}
        shots.append(Shot(record_id=record_id, title=title or "", abstract=abstract or "", decision=decision, **why))
    return tuple(shots)
