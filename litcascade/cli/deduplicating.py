"""`litcascade dedup`: find duplicates, print what was joined, linked and left to people."""

from dataclasses import asdict
from typing import Any

from litcascade.cli.show import print_json, print_tables
from litcascade.pipeline.duplicates import DedupReceipt, deduplicate
from litcascade.pipeline.review import Review
from litcascade.report import Table


def deduplicate_and_print(review: Review, json_out: bool) -> None:
    """Run it and show the receipt."""
    with review.open() as store:
        receipt = deduplicate(store)
    if json_out:
        print_json(asdict(receipt))
    else:
        print_tables([_table(receipt)])


def _table(receipt: DedupReceipt) -> Table:
    rows: list[list[Any]] = [
        ["records", receipt.records],
        ["duplicates, kept out of screening", receipt.removed],
        *([f"  joined by {rule}", count] for rule, count in receipt.rules.items()),
        ["reports to screen", receipt.kept],
        ["studies they belong to", receipt.studies],
        *([f"  linked as one study by {rule}", count] for rule, count in receipt.links.items()),
        ["pairs that a person must look at", receipt.unsure],
        *([f"flagged: {status}", count] for status, count in receipt.statuses.items()),
    ]
    notes = list(receipt.notes)
    if receipt.unsure:
        notes.append("litcascade export duplicates pairs.csv; fill in decision; litcascade import pairs.csv --as duplicates")
    for group in receipt.contradictions[:10]:
        notes.append(f"people decided otherwise on records of one report: {', '.join(group)}; it waits for a person")
    if receipt.gold_differs:
        notes.append(f"gold labels differ within {receipt.gold_differs} report(s); there the include holds")
    if not receipt.changed:
        notes.append("nothing changed since the last time")
    return Table("Duplicates", ["", "count"], rows, notes)
