"""Error analysis: false negatives and false positives with score, reason and reply; causes as a person tags them."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from litcascade.corpora.labels import read_causes
from litcascade.corpora.writers import write_table
from litcascade.pipeline.exporting import EXPORTERS
from litcascade.pipeline.importing import LabelsReceipt, require_known
from litcascade.pipeline.review import Review
from litcascade.pipeline.states import stage_frame
from litcascade.store import Store, now

HEADER = ["record_id", "stage", "error", "cause", "score", "reason", "reply", "title"]


def errors_of(review: Review, store: Store) -> list[dict[str, Any]]:
    """Every record whose verdict differs from gold: `error` is false negative or false positive; missed ones first."""
    found = []
    for stage, _ in review.protocol.stages.items():
        if stage == "extraction":
            continue
        frame = stage_frame(store, stage)
        missed = frame.filter((pl.col("gold") == "include") & (pl.col("state") == "excluded"))["record_id"].to_list()
        extra = frame.filter((pl.col("gold") == "exclude") & pl.col("state").is_in(["included", "referred"]))[
            "record_id"
        ].to_list()
        kinds = [*((key, "false negative") for key in missed), *((key, "false positive") for key in extra)]
        details = _details(store, stage, [key for key, _ in kinds])
        found += [{"record_id": key, "stage": stage, "error": kind, **details[key]} for key, kind in kinds]
    return sorted(found, key=lambda row: row["error"] != "false negative")


def _details(store: Store, stage: str, ids: list[str]) -> dict[str, dict[str, Any]]:
    rows = store.rows(
        f"select s.record_id, c.cause, s.score, coalesce(r.reason, s.reason), "
        "(select text from calls where key = r.calls[-1]), records.title "
        f"from {stage} s join records using (record_id) "
        "left join (select * from readings join current_stages using (stage, fingerprint) where stage = ? "
        "  qualify row_number() over (partition by record_id order by seq desc) = 1) r on r.record_id = s.record_id "
        "left join current_causes c on c.record_id = s.record_id and c.stage = ? "
        "where s.record_id in (select unnest(?::text[]))",
        [stage, stage, ids],
    )
    return {row[0]: dict(zip(HEADER[3:], row[1:], strict=True)) for row in rows}


@EXPORTERS.register("errors")
def export_errors(review: Review, store: Store, path: Path) -> int:
    """False negatives and false positives, with a column `cause` to fill in and import with `--as causes`."""
    rows = errors_of(review, store)
    path.write_text(write_table(HEADER, rows), encoding="utf-8", newline="")
    return len(rows)


def import_causes(store: Store, path: Path, by: str | None) -> LabelsReceipt:
    """Causes of errors from a filled-in export; blank ones are left out."""
    return record_causes(store, read_causes(path), by, path)


def record_causes(store: Store, causes: Sequence[Mapping[str, str]], by: str | None, where: Path | str) -> LabelsReceipt:
    """Append causes given as record_id, stage and cause; `where` names their origin in errors."""
    require_known(store, where, {cause["record_id"] for cause in causes})
    store.append("causes", [{**cause, "who": by, "at_time": now()} for cause in causes])
    counts: dict[str, int] = {}
    for cause in causes:
        counts[cause["cause"]] = counts.get(cause["cause"], 0) + 1
    return LabelsReceipt(len(causes), counts)


def causes_table(review: Review, store: Store) -> list[tuple[str, str, str, int]]:
    """Counts of errors by stage, kind and cause ("not tagged" where nobody did)."""
    counts: dict[tuple[str, str, str], int] = {}
    for row in errors_of(review, store):
        key = (row["stage"], row["error"], row["cause"] or "not tagged")
        counts[key] = counts.get(key, 0) + 1
    return [(*key, count) for key, count in sorted(counts.items())]
