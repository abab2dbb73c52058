"""`litcascade import`: tell what a path is, import it, print the receipt."""

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import typer

from litcascade.cli.counting import CountLine
from litcascade.cli.show import print_json, print_tables, warn_of_disk
from litcascade.corpora import Receipt
from litcascade.corpora.texts.grobid import GrobidServer
from litcascade.errors import InputError
from litcascade.pipeline.duplicates import import_pairs
from litcascade.pipeline.errors_found import import_causes
from litcascade.pipeline.importing import (
    LabelsReceipt,
    import_decisions,
    import_gold,
    import_records,
)
from litcascade.pipeline.labels_in_exports import FoundLabels, import_found_labels, is_table_of_labels
from litcascade.pipeline.rationales import RationalesReceipt, import_rationales
from litcascade.pipeline.review import Review, open_review
from litcascade.pipeline.run import require_amendment
from litcascade.pipeline.texts import Intake, TextsReceipt, import_texts
from litcascade.registry import nearest
from litcascade.report import Table
from litcascade.store import Store

AnyReceipt = Receipt | TextsReceipt | LabelsReceipt | FoundLabels | RationalesReceipt
KINDS = ("records", "texts", "gold", "decisions", "rationales", "duplicates", "causes")


def import_any(
    folder: Path, path: Path, kind: str, by: str | None, columns: list[str], json_out: bool, grobid: str | None = None
) -> None:
    """Import a path as what it is said to be; a folder is full texts, a file records, unless told otherwise."""
    kind = kind or ("texts" if path.is_dir() else "records")
    if kind not in KINDS:
        raise InputError(f"--as {kind}: there is no such kind of import{nearest(kind, KINDS)}")
    if not path.exists():
        raise InputError(f"{path}: there is no such file or folder")
    review = open_review(folder)
    fresh = not review.store_path.exists()
    declared = _declared(columns)
    if declared and kind != "records":
        raise InputError("--columns says which column of a table of records is which; leave it out for other imports")
    if grobid is not None and kind != "texts":
        raise InputError("--grobid reads full texts; name a folder of them, or add --as texts")
    receipt: AnyReceipt
    warn_of_disk(review.folder)
    try:
        with review.open(create=kind == "records") as store:
            if kind == "records":
                with CountLine(path.name) as line:
                    receipt = import_records(store, path, declared, line.tick)
            elif kind == "texts":
                with CountLine(path.name, "files") as line:
                    receipt = import_texts(store, path, _intake(review, grobid, line))
            else:
                receipt = _OTHERS[kind](review, store, path, by)
    except BaseException:
        if fresh:
            review.store_path.unlink(missing_ok=True)
        raise
    _tell(receipt, json_out)


def _intake(review: Review, grobid: str | None, line: CountLine) -> Intake:
    server = None if grobid is None else GrobidServer(grobid)
    return Intake(server, review.folder / "grobid", on_tick=lambda done, _: line.tick(done))


def _gold(review: Review, store: Store, path: Path, _: str | None) -> LabelsReceipt | FoundLabels:
    return import_gold(review, store, path) if is_table_of_labels(path) else import_found_labels(store, path)


def _decisions(review: Review, store: Store, path: Path, by: str | None) -> LabelsReceipt:
    require_amendment(review, store)
    return import_decisions(review, store, path, by)


_OTHERS: dict[str, Callable[[Review, Store, Path, str | None], AnyReceipt]] = {
    "gold": _gold,
    "decisions": _decisions,
    "rationales": import_rationales,
    "duplicates": import_pairs,
    "causes": lambda _, store, path, by: import_causes(store, path, by),
}


def _declared(columns: list[str]) -> dict[str, str]:
    """`title=Kopf` and so on, as given."""
    parts = [part.partition("=") for text in columns for part in text.split(",")]
    wrong = next((field for field, sign, column in parts if not (field.strip() and sign and column.strip())), None)
    if wrong is not None:
        raise InputError(f"--columns {wrong}: say field=COLUMN, such as title=Heading")
    return {field.strip().casefold(): column.strip() for field, _, column in parts}


def _tell(receipt: AnyReceipt, json_out: bool) -> None:
    """The receipt; where texts still wait for an answer of GROBID the command ends with 3, so that scripts ask again."""
    if json_out:
        print_json(asdict(receipt))
    else:
        _print(receipt)
    if isinstance(receipt, TextsReceipt) and receipt.waiting:
        raise typer.Exit(3)


def _print(receipt: AnyReceipt) -> None:
    if isinstance(receipt, Receipt):
        _print_records(receipt)
    elif isinstance(receipt, TextsReceipt):
        rows: list[list[Any]] = [
            ["files", receipt.files],
            ["matched to a record", receipt.matched],
            ["here already", receipt.already_here],
        ]
        rows += [[f"of these {state}", count] for state, count in receipt.states.items()]
        rows += [["no record found", len(receipt.unmatched)], ["second file for a record", len(receipt.clashes)]]
        rows += [["of another kind, not read", len(receipt.other_kinds)]]
        rows += [["named in the list, not there", len(receipt.missing)]] if receipt.missing else []
        rows += [["GROBID had no answer yet: import again", len(receipt.waiting)]] if receipt.waiting else []
        rows += [[f"flagged: {kind}", count] for kind, count in receipt.flags.items()]
        notes = [f"not there: {name}: {why}" for name, why in receipt.missing]
        notes += [f"waits: {name}: {why}" for name, why in receipt.waiting]
        notes += [f"not matched: {name}: {why}" for name, why in [*receipt.unmatched, *receipt.clashes]]
        notes += [f"not read: {name}: {why}" for name, why in receipt.other_kinds]
        print_tables([Table("Full texts", ["", "files"], rows, _first(notes))])
    elif isinstance(receipt, FoundLabels):
        counts = [["labels imported", receipt.labels], *([what, count] for what, count in receipt.by_stage.items())]
        counts += [["records without label", receipt.unlabelled], ["maybe, or screeners differ", receipt.undecided]]
        counts += [
            ["of no record in the review", len(receipt.unmatched)],
            ["contradicting each other", len(receipt.contradicted)],
        ]
        notes = [f"contradicted: {name}" for name in receipt.contradicted] + [
            f"not matched: {name}" for name in receipt.unmatched
        ]
        print_tables([Table("Labels", ["", "count"], counts, _first(notes))])
    elif isinstance(receipt, RationalesReceipt):
        counts = [["rationales imported", receipt.rationales], *([what, count] for what, count in receipt.by_stage.items())]
        refused = [f"line {line}: {why}" for line, why in receipt.refused]
        print_tables([Table("Rationales", ["", "count"], [*counts, ["refused", len(refused)]], _first(refused))])
    else:
        typer.echo(f"imported {receipt.labels}: " + ", ".join(f"{count} {what}" for what, count in receipt.by_stage.items()))


def _print_records(receipt: Receipt) -> None:
    rows = [
        ["records in the file", receipt.in_file],
        ["read", receipt.read],
        ["refused (kept aside with line and reason)", receipt.refused],
        ["lines outside records, kept aside", receipt.lines_set_aside],
        ["without title", receipt.missing_titles],
        ["without abstract", receipt.missing_abstracts],
        ["abstract cut short", receipt.cut_abstracts],
        ["date to look at (no year, or two)", receipt.unclear_years],
        *([f"flagged: {status}", count] for status, count in receipt.statuses.items()),
        *([f"label in the file, {label}", count] for label, count in receipt.labels.items()),
    ]
    notes = [f"refused: {words}" for words in receipt.first_refused]
    notes += (
        [f"refused: {receipt.refused - len(notes)} more (table set_aside of the store)"] if receipt.refused > len(notes) else []
    )
    notes += [f"repair: {repair}" for repair in receipt.repairs]
    if receipt.labels:
        notes.append("labels in the file are kept with the records; to score against them, import it again with --as gold")
    title = f"{receipt.path}: {receipt.format}, {receipt.encoding}"
    print_tables([Table(title, ["", "count"], rows, _first(notes))])


def _first(notes: list[str], limit: int = 10) -> list[str]:
    left = len(notes) - limit
    return [*notes[:limit], f"and {left} more; --json lists all"] if left > 0 else notes
