"""The boxes of the PRISMA 2020 flow, each counted by a query of its own, so that their sums can be checked."""

from litcascade.pipeline.review import Review
from litcascade.report.flow import Box, Flow, Step, flow_svg
from litcascade.report.page import Block, Figure, Points, Prose
from litcascade.report.tables import Table
from litcascade.schemas import SCREENING
from litcascade.store import Store

FOUND, SCREENED, INCLUDED = "Identification", "Screening", "Included"
_LONGEST = 90
_OTHERS = 12


def prisma_flow(review: Review, store: Store) -> Flow:
    """From the records of all imports to the included studies, by what the views of the stages say now."""
    stages: list[str] = [name for name, _ in review.protocol.stages.items()]
    screening = [name for name in stages if name in SCREENING]
    counts = {stage: _counts(store, stage) for stage in stages}
    steps = [_identified(store, counts[stages[0]]["duplicate"])]
    if "title_abstract" in screening:
        steps.append(_screened(review, counts["title_abstract"], last=screening[-1] == "title_abstract"))
    if "full_text" in screening:
        steps += _reports(review, store, counts["full_text"], counts.get("title_abstract"))
    if not screening:
        box = Box("Records for extraction (nothing is screened in this review)", counts[stages[0]]["here"])
        return Flow((*steps, Step(INCLUDED, box)))
    return Flow((*steps, Step(INCLUDED, _included(store, screening[-1], counts))))


_COUNTED = {
    "duplicate": "state = 'duplicate'", "here": "state <> 'duplicate'", "excluded": "state = 'excluded'",
    "excluded by model": "state = 'excluded' and decided_by = 'model'",
    "excluded by people": "state = 'excluded' and decided_by <> 'model'", "referred": "state = 'referred'",
    "referred, waits": "state = 'referred' and not passes", "referred, passes": "state = 'referred' and passes",
    "pending": "state = 'pending'", "included": "state = 'included'", "extracted": "state = 'extracted'",
    "not retrieved": "state = 'not retrieved'", "assessed": "state not in ('duplicate', 'not retrieved')",
}  # fmt: skip
Counts = dict[str, int]


def _counts(store: Store, stage: str) -> Counts:
    """Each count by a condition of its own, in one pass over the stage's view."""
    filters = ", ".join(f"count(*) filter ({where})" for where in _COUNTED.values())
    return dict(zip(_COUNTED, map(int, store.rows(f"select {filters} from {stage}")[0]), strict=True))


def _identified(store: Store, duplicates: int) -> Step:
    rows = store.rows(
        "select path, n + aside from (select i.seq, i.path, "
        "(select count(*) from records r where r.import_id = i.import_id) as n, "
        "(select count(*) from set_aside s where s.import_id = i.import_id and s.is_record) as aside from imports i) order by seq"
    )
    stray = int(
        store.value("select count(*) from records where import_id is null or import_id not in (select import_id from imports)")
    )
    aside = int(store.value("select count(*) from set_aside where is_record"))
    total = int(store.value("select count(*) from records")) + aside
    parts = [(str(path), int(count)) for path, count in rows] + ([("not from an import", stray)] if stray else [])
    if len(parts) > _OTHERS:
        rest = parts[_OTHERS - 1 :]
        parts = [*parts[: _OTHERS - 1], (f"{len(rest)} further imports", sum(count for _, count in rest))]
    out = (
        Box("Duplicate records removed before screening", duplicates),
        *((Box("Entries that could not be read as records", aside),) if aside else ()),
    )
    return Step(FOUND, Box("Records identified", total, tuple(parts)), out)


def _left(counts: Counts, what: str, *, last: bool) -> tuple[Box, ...]:
    """What waits at a stage: for people, and for a reader. At the last screening stage nothing goes on undecided."""
    boxes = [
        Box(f"{what} that wait for people", counts["referred" if last else "referred, waits"], waits=True),
        Box(f"{what} not judged yet", counts["pending"], waits=True),
    ]
    return tuple(box for box in boxes if box.count)


def _judges(review: Review, stage: str) -> str:
    """Who stands behind a verdict of the stage itself."""
    spec = dict(review.protocol.stages.items())[stage]  # type: ignore[index]  # a stage of this protocol
    persons = [review.protocol.readers[name].person for name in spec.readers]
    return "by people who are its readers" if all(persons) else "by models and people together" if any(persons) else "by models"


def _screened(review: Review, counts: Counts, *, last: bool) -> Step:
    who = ((_judges(review, "title_abstract"), counts["excluded by model"]), ("by people", counts["excluded by people"]))
    excluded = Box("Records excluded", counts["excluded"], who)
    box = Box("Records for screening of title and abstract", counts["here"])
    return Step(SCREENED, box, (excluded, *_left(counts, "Records", last=last)))


def _reports(review: Review, store: Store, counts: Counts, before: Counts | None) -> list[Step]:
    undecided = before["referred, passes"] if before else 0
    told = (("passed on undecided and still queued for people", undecided),) if undecided else ()
    sought = Box("Reports sought for retrieval", counts["here"], told=told)
    missing = Box("Reports not retrieved", counts["not retrieved"], waits=True)
    assessed = Box("Reports for assessment of eligibility", counts["assessed"])
    excluded = Box("Reports excluded", counts["excluded"], tuple(_reasons(review, store, "full_text")))
    return [
        Step(SCREENED, sought, (missing,)),
        Step(SCREENED, assessed, (excluded, *_left(counts, "Reports", last=True))),
    ]


def _reasons(review: Review, store: Store, stage: str) -> list[tuple[str, int]]:
    """Exclusions by the first criterion that failed; where none is named, by who decided."""
    rows = store.rows(
        f"select criterion, count(*) from {stage} where state = 'excluded' and criterion is not null "
        "group by 1 order by 2 desc, 1"
    )
    texts = {criterion.id: criterion.text for criterion in review.protocol.criteria}
    found = []
    for criterion, count in rows:
        name = f"{criterion}: {texts[criterion]}" if criterion in texts else f"{criterion} (no longer a criterion)"
        found.append((name if len(name) <= _LONGEST else name[: _LONGEST - 1] + "…", int(count)))
    unnamed = store.rows(
        f"select case when decided_by = 'model' then '{_judges(review, stage)}' else 'by people' end, count(*) from {stage} "
        "where state = 'excluded' and criterion is null group by 1 order by 1"
    )
    return [*found, *((f"no criterion named, {who}", count) for who, count in unnamed)]


def _included(store: Store, last: str, counts: dict[str, Counts]) -> Box:
    studies = int(
        store.value(
            f"select count(distinct coalesce(c.study_id, s.record_id)) from {last} s left join current_clusters c "
            "on c.record_id = s.record_id where s.state = 'included'"
        )
    )
    told = [("studies that they belong to", studies)]
    if "extraction" in counts:
        told.append(("of the reports extracted", counts["extraction"]["extracted"]))
    title = "Reports included" if last == "full_text" else "Records included"
    return Box(title, counts[last]["included"], told=tuple(told))


def prisma_blocks(review: Review, store: Store, flow: Flow) -> list[Block]:
    """The diagram with its data, the sums in words, and the searches."""
    faults = flow.faults()
    blocks: list[Block] = []
    if faults:
        blocks.append(Prose("THE BOXES DO NOT SUM: " + "; ".join(faults), "warning"))
    caption = "Boxes with a broken line hold what nobody has decided or found yet. Reports of one study are counted apart."
    blocks.append(Figure("PRISMA 2020 flow diagram", flow_svg(flow), flow.table(), caption))
    if not faults:
        blocks.append(Prose("Every box equals what leaves it and what goes on:"))
    blocks.append(Points(flow.sums()))
    searches = review.protocol.search
    if searches:
        rows = [[one.source, str(one.date), one.count, one.query or None] for one in searches]
        blocks.append(Table("Searches, as the protocol tells them", ["source", "date", "records it reported", "query"], rows))
    else:
        blocks.append(Prose("The protocol names no search ([[search]]); the sources above are the imported files."))
    if not store.value("select count(*) from clusters"):
        blocks.append(
            Prose("Records were not de-duplicated (`litcascade dedup`), so each report is counted as a study of its own.")
        )
    return blocks
