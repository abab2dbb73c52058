"""Extraction and its judges: scores, values with their quotes, calibrations with their support."""

from litcascade.errors import InputError
from litcascade.pipeline.field_score_tables import field_tables
from litcascade.pipeline.judging.reporting import judge_report, tables_of
from litcascade.pipeline.review import Review
from litcascade.pipeline.scoring import Scores
from litcascade.report.page import Block, Folded, Prose, absent
from litcascade.report.tables import Table
from litcascade.store import Store

MOST_VALUES = 1_000
VALUES = (
    "select e.record_id, e.field, e.value::text, e.error, e.quote, "
    "coalesce(e.support, case when e.quote_found then 'quote found' when e.quote_found is null then 'not reported' "
    "else 'quote not found' end), case when e.fingerprint = 'person' then 'a person' else e.reader end, e.escalated "
    "from extracted e order by e.record_id, e.field, e.reader"
)


def extraction_blocks(review: Review, store: Store, scores: Scores) -> list[Block]:
    """Scores of the fields where there is gold; all values with their quotes, up to a number that a page can hold."""
    if review.protocol.stages.extraction is None:
        return [absent("The protocol has no extraction stage.")]
    blocks: list[Block] = []
    if any(estimate.n for estimate in scores.fields.scores.values()):
        blocks += field_tables(scores.fields)
    else:
        blocks.append(absent("There are no gold fields of extracted records, so extraction is not scored."))
    rows = [list(row) for row in store.rows(VALUES)]
    if not rows:
        return [*blocks, absent("No value is extracted yet.")]
    header = ["record", "field", "value", "error", "quote", "support", "from", "why a person should look"]
    if len(rows) > MOST_VALUES:
        blocks.append(
            Prose(f"The first {MOST_VALUES:,} of {len(rows):,} values; `litcascade export extractions FILE` writes all.")
        )
    return [*blocks, Folded(Table("Extracted values", header, rows[:MOST_VALUES]))]


def judge_blocks(review: Review, store: Store) -> list[Block]:
    """Judged shares corrected for the judges' errors, each with whether the labels support it."""
    if not store.value("select count(*) from judge_versions"):
        return [absent("No judge was run (`litcascade judge run`), so no free-text field is judged.")]
    try:
        return list(tables_of(judge_report(review, store)))
    except InputError as error:
        return [absent(f"The judges cannot be reported: {error}.")]
