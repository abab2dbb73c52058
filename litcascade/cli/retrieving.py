"""`litcascade retrieve`: open-access full texts brought for the records that wait for one, then imported."""

from collections import Counter
from dataclasses import asdict
from pathlib import Path

from litcascade.cli.counting import CountLine
from litcascade.cli.show import print_json, print_tables
from litcascade.corpora.texts.retrieval import SOURCES, Outcome, Wanted, retrieve
from litcascade.errors import InputError
from litcascade.pipeline.review import Review
from litcascade.pipeline.texts import import_texts
from litcascade.report import Table
from litcascade.store import Store

SHOWN = 10


def retrieve_and_import(
    review: Review, email: str, into: Path | None, sources: list[str] | None, again: bool, json_out: bool
) -> None:
    """Ask for every record that has come to full text without one; what is brought is imported at once."""
    folder = into or review.folder / "retrieved"
    with review.open() as store:
        wanted = _wanted(review, store)
        if not wanted:
            raise InputError("no record waits for a full text; import records, or run the screening before it first")
        with CountLine(folder.name, "records") as line:
            outcomes = list(
                retrieve(wanted, folder, email=email, sources=sources or SOURCES, again=again,
                         on_progress=lambda done, _, __: line.tick(done))
            )  # fmt: skip
        brought = {item.path: item.record_id for item in outcomes if item.state == "retrieved" and item.path is not None}
        receipt = import_texts(store, brought) if brought else None
    if json_out:
        print_json({"outcomes": outcomes, "imported": asdict(receipt) if receipt else None})
        return
    print_tables([_table(outcomes, folder, receipt.matched + receipt.already_here if receipt else 0)])


def _wanted(review: Review, store: Store) -> list[Wanted]:
    """Records that entered a stage that reads reports and have none."""
    stages = [name for name, _ in review.protocol.stages.items() if name in ("full_text", "extraction")]
    if not stages:
        raise InputError("this review reads no full texts: its protocol has neither full_text nor extraction")
    rows = store.rows(
        f"select record_id, doi, pmcid, pmid from {stages[0]} join records using (record_id) where state = 'not retrieved' "
        "order by records.seq"
    )
    return [Wanted(*row) for row in rows]


def _table(outcomes: list[Outcome], folder: Path, imported: int) -> Table:
    counts = Counter(outcome.state for outcome in outcomes)
    rows: list[list[object]] = [[state, counts[state]] for state in ("retrieved", "not open", "unknown", "failed")]
    missing = [outcome for outcome in outcomes if outcome.state != "retrieved"]
    notes = [f"{outcome.record_id}: {outcome.state}: {outcome.why}" for outcome in missing[:SHOWN]]
    notes += [f"and {len(missing) - SHOWN} more; {folder / 'retrieval.jsonl'} has all"] if len(missing) > SHOWN else []
    return Table(f"Full texts in {folder}", ["", "records"], [*rows, ["imported, or here already", imported]], notes)
