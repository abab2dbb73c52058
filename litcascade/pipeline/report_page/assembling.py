"""The whole report of a review, section by section."""

from collections.abc import Callable, Sequence

from litcascade import __version__
from litcascade.pipeline.auditing import audit_table
from litcascade.pipeline.errors_found import causes_table
from litcascade.pipeline.kit import checklist, deployment_table, leakage_tables, minimum_table
from litcascade.pipeline.ledger import ledger_table, read_ledger, reasons_table
from litcascade.pipeline.report_page.costs import cost_blocks
from litcascade.pipeline.report_page.developed import harmonised_blocks, schema_blocks
from litcascade.pipeline.report_page.extracted import extraction_blocks, judge_blocks
from litcascade.pipeline.report_page.figures import score_figures
from litcascade.pipeline.report_page.lengths import length_blocks
from litcascade.pipeline.report_page.limits import limit_blocks
from litcascade.pipeline.report_page.living import living_blocks
from litcascade.pipeline.report_page.losses import lost_blocks
from litcascade.pipeline.report_page.methods import methods_paragraph
from litcascade.pipeline.report_page.people import agreement_blocks, reliability_blocks
from litcascade.pipeline.report_page.prisma import prisma_blocks, prisma_flow
from litcascade.pipeline.report_page.repeat import repeat_blocks
from litcascade.pipeline.reporting import score_tables
from litcascade.pipeline.review import Review
from litcascade.pipeline.scoring import Scores, score_review
from litcascade.report.page import Block, Page, Points, Prose, Section, absent
from litcascade.report.tables import Table
from litcascade.store import Store, now

NO_GOLD = "There are no gold labels (`litcascade import FILE --as gold`), so nothing is scored."


def report_page(review: Review, store: Store) -> Page:
    """Everything there is to say, from what stands in the store now; what there is not is said too."""
    scores, flow = score_review(review, store), prisma_flow(review, store)
    parts: list[tuple[str, Callable[[], Sequence[Block]]]] = [
        ("Flow of records", lambda: prisma_blocks(review, store, flow)),
        ("Where every record stands", lambda: _ledger(review, store)),
        ("Scores by stage", lambda: _scores(review, store, scores)),
        ("Lost Evidence", lambda: [*lost_blocks(review, store, scores), *_errors(review, store)]),
        ("Operating points and scores", lambda: _figures(review, store, scores)),
        ("By length", lambda: length_blocks(review, store)),
        ("Extraction", lambda: extraction_blocks(review, store, scores)),
        ("Judges", lambda: judge_blocks(review, store)),
        ("Harmonised values", lambda: harmonised_blocks(store)),
        ("Development of the schema", lambda: schema_blocks(review, store)),
        ("Agreement", lambda: agreement_blocks(review, store)),
        ("Reliability of replies", lambda: reliability_blocks(store)),
        ("Cost and time", lambda: cost_blocks(review, store)),
        ("Leakage", lambda: _leakage(review, store, scores)),
        ("Limitations", lambda: limit_blocks(review, store, scores)),
        ("Living review and amendments", lambda: living_blocks(review, store)),
        ("Reporting kit", lambda: _kit(review, store, scores)),
        ("Methods, ready to paste", lambda: [Prose(methods_paragraph(review, store, scores, flow), "copy")]),
        ("To repeat this", lambda: repeat_blocks(review, store)),
    ]
    lead = [
        review.protocol.review.question,
        *([f"By {', '.join(review.protocol.review.authors)}"] if review.protocol.review.authors else []),
        f"Written {now()[:16].replace('T', ' ')} UTC by litcascade {__version__}; protocol {review.protocol.hash()[:12]}",
    ]
    return Page(review.protocol.review.title, lead, [Section(title, list(make())) for title, make in parts])


def _ledger(review: Review, store: Store) -> list[Block]:
    ledger = read_ledger(store, review.protocol)
    broken = [stage.stage for stage in ledger if not stage.closes()]
    blocks: list[Block] = [Prose(f"THE COUNTS DO NOT CLOSE at {', '.join(broken)}", "warning")] if broken else []
    blocks.append(ledger_table(ledger))
    return [*blocks, reasons_table(ledger) or absent("No record waits for a person.")]


def _scores(review: Review, store: Store, scores: Scores) -> list[Block]:
    from litcascade.pipeline.baselines import workload_table  # heavy, and only wanted where there is gold

    if not scores.stages:
        return [absent(NO_GOLD), audit_table(store) or absent("No audit of silver exclusions was drawn.")]
    blocks: list[Block] = [*score_tables(scores)]
    workload = workload_table(review, store, scores.stages)
    blocks += [workload] if workload else []
    return [*blocks, audit_table(store) or absent("No audit of silver exclusions was drawn (`litcascade plan --draw FILE`).")]


def _errors(review: Review, store: Store) -> list[Block]:
    causes = causes_table(review, store)
    if not causes:
        return []
    return [Table("Errors by cause", ["stage", "error", "cause", "records"], [list(row) for row in causes])]


def _figures(review: Review, store: Store, scores: Scores) -> list[Block]:
    if not scores.stages:
        return [absent(NO_GOLD)]
    weight = review.protocol.operating_point.weight
    return [*(block for score in scores.stages for block in score_figures(store, score.stage, weight)), _frozen(store)]


def _frozen(store: Store) -> Block:
    rows = store.rows("select rule_id, stage, target, family, promised, certificate from panel_rules order by seq")
    if not rows:
        return absent("No panel rule was chosen and frozen on labelled splits (`litcascade bench choose`).")
    header = ["rule", "stage", "recall target", "family", "recall is shown", "certificate"]
    return Table("Frozen panel rules", header, rows)


def _kit(review: Review, store: Store, scores: Scores) -> list[Block]:
    """The kit but for its leakage tables, which have a section of their own."""
    if not scores.stages:
        return [absent(NO_GOLD)]
    return [minimum_table(review, scores), *map(deployment_table, scores.stages), checklist(review, store, scores)]


def _leakage(review: Review, store: Store, scores: Scores) -> list[Block]:
    if not scores.stages:
        return [absent(NO_GOLD)]
    asked = {review.protocol.readers[name].model for _, spec in review.protocol.stages.items() for name in spec.readers}
    models = sorted(name for name in asked if name)
    told = [
        f"{name}: trained on texts up to {cutoff}, as its makers say."
        if (cutoff := review.protocol.models[name].cutoff)
        else f"{name}: no training cut-off is declared, so leakage is not checked."
        for name in models
    ]
    tables = [table for table in leakage_tables(review, store, scores) if any(row[2] is not None for row in table.rows)]
    return [Points(told) if told else absent("No model is asked in this review."), *tables]
