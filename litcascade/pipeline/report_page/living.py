"""A living review: each import with where its records stand, what moved between runs, and what each amendment changed."""

import json

from litcascade.pipeline.review import Review
from litcascade.report.page import Block, Folded, Points, Prose, absent
from litcascade.report.tables import Table
from litcascade.schemas import SCREENING
from litcascade.store import Store

_ORDER = ("included", "excluded", "extracted", "referred", "pending", "duplicate", "not retrieved")


def states_at(store: Store, stage: str, seq: int) -> dict[str, str]:
    """What the stage itself had said of each record when row `seq` of the store was the newest, under what was in force."""
    return dict(
        store.rows(
            "select record_id, state from verdicts where stage = $stage and seq <= $seq and fingerprint = ("
            "select arg_max(fingerprint, seq) from stage_versions where stage = $stage and seq <= $seq) "
            "qualify row_number() over (partition by record_id order by seq desc) = 1",
            {"stage": stage, "seq": seq},
        )
    )


def living_blocks(review: Review, store: Store) -> list[Block]:
    """All three parts; where there is one import, one run and no amendment, the sentence that says so."""
    stages: list[str] = [name for name, _ in review.protocol.stages.items() if name in SCREENING]
    every: list[str] = [name for name, _ in review.protocol.stages.items()]
    return [*_imports(store, stages or every), *_moved(store, stages), *_amendments(store, stages)]


def _imports(store: Store, stages: list[str]) -> list[Block]:
    rows: list[list[object]] = []
    imports = store.rows("select import_id, path, at_time::text from imports order by seq")
    for import_id, path, at in imports:
        for stage in stages:
            counts = dict(
                store.rows(
                    f"select state, count(*) from {stage} join records using (record_id) where import_id = ? group by 1",
                    [import_id],
                )
            )
            rows.append([at[:10], path, stage, sum(counts.values()), *(counts.get(state, 0) for state in _ORDER)])
    if not rows:
        return [absent("Nothing was imported from a file, so there are no searches to tell apart.")]
    blocks: list[Block] = [Table("By import: where its records stand", ["date", "import", "stage", "entered", *_ORDER], rows)]
    if len(imports) == 1:
        blocks.append(
            absent("There was one import; a further search is imported with `litcascade import FILE`, and only it is screened.")
        )
    return blocks


def _moved(store: Store, stages: list[str]) -> list[Block]:
    """From each run to the next: records judged for the first time, and those whose verdict changed."""
    ends = store.rows(
        "select runs.run_id, runs.at_time::text, coalesce(lead(runs.seq) over (order by runs.seq) - 1, 9223372036854775807) "
        "from runs order by runs.seq"
    )
    counts: list[list[object]] = []
    moved: list[list[object]] = []
    for stage in stages:
        before: dict[str, str] = {}
        for number, (run, at, end) in enumerate(ends):
            after = states_at(store, stage, end)
            fresh = [key for key in after if key not in before]
            changed = sorted(key for key in after if key in before and after[key] != before[key])
            gone = sum(key not in after for key in before)
            counts.append([at[:16], run, stage, len(after), len(fresh) if number else None, len(changed) if number else None,
                           gone if number else None])  # fmt: skip
            moved += [[run, stage, key, before[key], after[key]] for key in changed]
            before = after
    if len(ends) < 2:
        return [absent("There was at most one run, so no verdict can have moved from one to the next.")]
    header = ["begun", "run", "stage", "judged by then", "new since the run before", "moved", "to be judged anew"]
    notes = ["verdicts of the stage itself under what was in force at the time; people's decisions are not in it"]
    blocks: list[Block] = [Table("From run to run", header, counts, notes)]
    if moved:
        return [*blocks, Folded(Table("Records whose verdict moved", ["run", "stage", "record", "from", "to"], moved))]
    return [*blocks, absent("No verdict moved from one run to the next.")]


def _amendments(store: Store, stages: list[str]) -> list[Block]:
    rows = store.rows(
        "select amendment_id, seq, at_time::text, author, reason, changes, "
        "coalesce(lead(seq) over (order by seq) - 1, 9223372036854775807) from amendments order by seq"
    )
    if not rows:
        return [absent("The criteria were never amended.")]
    blocks: list[Block] = []
    for key, seq, at, author, reason, changes, end in rows:
        blocks.append(Prose(f"Amendment of {at[:10]} by {author}: {reason}"))
        blocks.append(Points([_change(change) for change in json.loads(changes)]))
        blocks.append(Prose(_effect(store, stages, key, seq, end)))
    return blocks


def _change(change: dict[str, object]) -> str:
    before, after = change["before"], change["after"]
    told = f"{change['what']} was {change['how']} (at {', '.join(map(str, change['stages']))})"  # type: ignore[call-overload]
    return told + (f"; before: {before}" if before else "") + (f"; now: {after}" if after else "")


def _effect(store: Store, stages: list[str], key: str, seq: int, end: int) -> str:
    again, redecided, turned = store.rows(
        "select count(*), count(n.decision), count(*) filter (n.decision <> a.decision) from requeued q "
        "join adjudications a using (adjudication_id) left join (select * from adjudications where decision is not null "
        "and seq not in (select of_seq from withdrawn) "
        "qualify row_number() over (partition by record_id, stage order by seq desc) = 1) n "
        "on n.record_id = a.record_id and n.stage = a.stage and n.seq > q.seq where q.amendment_id = ?",
        [key],
    )[0]
    parts = [f"{again} decision(s) of people were queued again, {redecided} are decided anew, {turned} of them otherwise"]
    for stage in stages:
        before, after = states_at(store, stage, seq), states_at(store, stage, end)
        both = [record for record in before if record in after]
        changed = sum(before[record] != after[record] for record in both)
        parts.append(f"{stage}: {changed} of {len(both)} verdict(s) moved, {len(before) - len(both)} not judged anew")
    return "; ".join(parts) + "."
