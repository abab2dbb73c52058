"""`litcascade import`: tell what a path is, import it, print the receipt."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import typer

from litcascade.cli.show import print_json, print_tables
from litcascade.corpora import Receipt
from litcascade.errors import InputError
from litcascade.pipeline.errors_found import import_causes
from litcascade.pipeline.importing import (
    LabelsReceipt,
    TextsReceipt,
    import_decisions,
    import_gold,
    import_records,
    import_texts,
)
from litcascade.pipeline.review import open_review
from litcascade.pipeline.run import require_amendment
from litcascade.registry import nearest
from litcascade.report import Table

KINDS = ("records", "texts", "gold", "decisions", "causes")


def import_any(folder: Path, path: Path, kind: str, by: str | None, json_out: bool) -> None:
    """Import a path as what it is said to be; a folder is full texts, a file records, unless told otherwise."""
    kind = kind or ("texts" if path.is_dir() else "records")
    if kind not in KINDS:
        raise InputError(f"--as {kind}: there is no such kind of import{nearest(kind, KINDS)}")
    if not path.exists():
        raise InputError(f"{path}: there is no such file or folder")
    review = open_review(folder)
    fresh = not review.store_path.exists()
    receipt: Receipt | TextsReceipt | LabelsReceipt
    try:
        with review.open(create=kind == "records") as store:
            if kind == "records":
                receipt = import_records(store, path)
            elif kind == "texts":
                receipt = import_texts(store, path)
            elif kind == "gold":
                receipt = import_gold(review, store, path)
            elif kind == "decisions":
                require_amendment(review, store)
                receipt = import_decisions(review, store, path, by)
            else:
                receipt = import_causes(store, path, by)
    except InputError:
        if fresh:
            review.store_path.unlink(missing_ok=True)
        raise
    if json_out:
        print_json(asdict(receipt))
    else:
        _print(receipt)


def _print(receipt: Receipt | TextsReceipt | LabelsReceipt) -> None:
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
        notes = [f"not matched: {name}: {why}" for name, why in [*receipt.unmatched, *receipt.clashes]]
        notes += [f"not read: {name}: {why}" for name, why in receipt.other_kinds]
        print_tables([Table("Full texts", ["", "files"], rows, _first(notes))])
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
    ]
    title = f"{receipt.path}: {receipt.format}, {receipt.encoding}"
    print_tables([Table(title, ["", "count"], rows, _first([f"repair: {repair}" for repair in receipt.repairs]))])


def _first(notes: list[str], limit: int = 10) -> list[str]:
    left = len(notes) - limit
    return [*notes[:limit], f"and {left} more; --json lists all"] if left > 0 else notes
