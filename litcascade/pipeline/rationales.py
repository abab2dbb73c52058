"""Rationales: why a person decided so, as a quote from the record and one sentence; imported with their author."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from litcascade.corpora.labels import read_table
from litcascade.errors import InputError
from litcascade.pipeline.importing import require_known
from litcascade.pipeline.review import Review
from litcascade.pipeline.subjects import load_records
from litcascade.pipeline.texts import load_documents
from litcascade.stages.quote import fold, stands_in
from litcascade.store import Store, now

COLUMNS = ("record_id", "stage", "decision", "quote", "reasoning", "who")
SENTENCE = 600


@dataclass
class RationalesReceipt:
    """What an import of rationales came to; `refused` are (line, why)."""

    rationales: int = 0
    by_stage: dict[str, int] = field(default_factory=dict)
    refused: list[tuple[int, str]] = field(default_factory=list)


def import_rationales(review: Review, store: Store, path: Path, by: str | None) -> RationalesReceipt:
    """Import a table of record_id, quote, reasoning, and maybe stage, decision, who.

    A row whose quote does not stand in the record (title, abstract or full text), that has neither quote nor reasoning, or
    whose decision cannot be read is refused with its line; the others are kept. Unknown ids refuse the whole file.
    """
    names, lines = read_table(path)
    if "record_id" not in names or not {"quote", "reasoning"} & set(names):
        raise InputError(f"{path}: a table of rationales has the columns record_id, quote and reasoning (and maybe stage, "
                         "decision, who)")  # fmt: skip
    return record_rationales(review, store, lines, by, path)


def record_rationales(
    review: Review, store: Store, rows: Sequence[tuple[int, dict[str, str]]], by: str | None, where: Path | str
) -> RationalesReceipt:
    """Append rationales given as (line, cells by column); rows at fault are refused with their line, the others are kept."""
    require_known(store, where, {row["record_id"] for _, row in rows if row["record_id"]})
    screening: list[str] = [name for name, _ in review.protocol.stages.items() if name != "extraction"]
    ids = [row["record_id"] for _, row in rows if row["record_id"]]
    texts = _texts(store, ids)
    receipt = RationalesReceipt()
    kept = []
    for line, row in rows:
        stage = row.get("stage") or screening[0]
        fault = _fault(row, stage, screening, texts.get(row["record_id"], ""), by)
        if fault:
            receipt.refused.append((line, fault))
            continue
        receipt.by_stage[stage] = receipt.by_stage.get(stage, 0) + 1
        who = row.get("who") or by
        kept.append(
            {
                "at_time": now(), "record_id": row["record_id"], "stage": stage, "who": who,
                "decision": (row.get("decision") or "").strip().casefold() or None,
                "quote": (row.get("quote") or "").strip() or None, "reasoning": (row.get("reasoning") or "").strip() or None,
                "source": Path(where).name, "criteria_hash": review.protocol.criteria_hash(stage),
            }
        )  # fmt: skip
    store.append("rationales", kept)
    receipt.rationales = len(kept)
    return receipt


def _texts(store: Store, ids: list[str]) -> dict[str, str]:
    """What a quote may come from, folded."""
    documents = load_documents(store, ids)
    found = {}
    for record in load_records(store, ids):
        document = documents.get(record.record_id)
        parts = [record.title, record.abstract, document.text() if document else None]
        found[record.record_id] = fold("\n".join(part for part in parts if part))
    return found


def _fault(row: dict[str, str], stage: str, screening: list[str], text: str, by: str | None) -> str | None:
    quote, reasoning = (row.get("quote") or "").strip(), (row.get("reasoning") or "").strip()
    if not row["record_id"]:
        return "no record_id"
    if stage not in screening:
        return f"'{stage}' is no screening stage of this review"
    if not (row.get("who") or by):
        return "nobody is named; fill in the column who, or add --by NAME"
    if (row.get("decision") or "").strip().casefold() not in ("", "include", "exclude"):
        return f"the decision '{row['decision']}' is neither include nor exclude"
    if not quote and not reasoning:
        return "neither quote nor reasoning"
    if len(reasoning) > SENTENCE:
        return f"the reasoning is longer than {SENTENCE} characters; one sentence is enough"
    if quote and not stands_in(quote, text):
        return "the quote does not stand in the record's title, abstract or full text"
    return None
