"""Lost Evidence: what gold includes and a stage lost, with who or what excluded it, the score and the reason."""

from litcascade.pipeline.review import Review
from litcascade.pipeline.scoring import Scores
from litcascade.pipeline.states import has_gold
from litcascade.report.charts import Axis, Shown, interval_chart
from litcascade.report.page import Block, Figure, Folded, Prose, absent
from litcascade.report.tables import Table
from litcascade.schemas import SCREENING
from litcascade.store import Store

HEADER = ["record", "title", "lost how", "excluded by", "criterion", "score", "reason", "cause"]
_OPEN = 25  # a table of more rows is folded


def lost_blocks(review: Review, store: Store, scores: Scores) -> list[Block]:
    """By stage the recall with its interval and the records that are lost now, people's decisions heard."""
    stages = [name for name, _ in review.protocol.stages.items() if name in SCREENING]
    labelled = [name for name in stages if has_gold(store, name)]
    if not labelled:
        return [absent("There are no gold labels, so nobody can say what was lost; `litcascade plan --draw` audits exclusions.")]
    blocks: list[Block] = [*_figure(scores)]
    for stage in stages:
        of = stage if stage in labelled else labelled[-1]
        blocks += _stage(store, stage, of)
    return blocks


def _figure(scores: Scores) -> list[Block]:
    if scores.cascade is None:
        return [absent("Records that gold includes are still pending, so the loss by stage is not told yet.")]
    loss = scores.cascade.loss
    shown = [Shown(f"recall, {item.stage}", item.recall.value, item.recall.low, item.recall.high) for item in loss.stages]
    shown += [Shown(f"lost, {item.stage}", item.loss.value, item.loss.low, item.loss.high) for item in loss.stages]
    shown.append(Shown("recall, end to end", loss.end_to_end.value, loss.end_to_end.low, loss.end_to_end.high))
    title = "Evidence kept and lost by stage"
    words = (
        "Recall of each stage among gold includes that came there, the share of all gold includes lost at it, and what is left"
    )
    notes = [loss.end_to_end.note] if loss.end_to_end.note else []
    data = Table(f"{title}: data", ["figure", "value", "low", "high"], [[s.name, s.value, s.low, s.high] for s in shown], notes)
    svg = interval_chart(shown, Axis("share of gold includes, with exact 95 % intervals", 0, 1), title, words)
    return [Figure(title, svg, data, f"{words}; models alone, before any person decided.")]


def _stage(store: Store, stage: str, of: str) -> list[Block]:
    rows = [list(row) for row in store.rows(lost_sql(stage), [stage, of, stage])]
    known = int(store.value("select count(*) from current_gold where stage = ? and decision = 'include'", [of]))
    here = int(
        store.value(
            f"select count(*) from {stage} join current_gold g using (record_id) where g.stage = ? and g.decision = 'include'",
            [of],
        )
    )
    told = f"{stage}: {len(rows)} of {here} gold includes ({of}) that came here are lost ({known} gold includes in all)."
    saved = int(
        store.value(
            f"select count(*) from {stage} s join verdicts v on v.record_id = s.record_id and v.stage = ? join current_stages c "
            "on c.stage = v.stage and c.fingerprint = v.fingerprint join current_gold g on g.record_id = s.record_id "
            "and g.stage = ? and g.decision = 'include' where v.state = 'excluded' and s.state in ('included', 'referred')",
            [stage, of],
        )
    )
    if saved:
        told += f" {saved} that the models had excluded were brought back by people."
    blocks: list[Block] = [Prose(told)]
    if rows:
        table = Table(f"Gold includes lost at {stage}", HEADER, rows)
        blocks.append(table if len(rows) <= _OPEN else Folded(table))
    return blocks


def lost_sql(stage: str) -> str:
    """The rows of `HEADER`; parameters are the stage, the stage of the gold labels, and the stage again."""
    return (
        "select s.record_id, r.title, s.state, case when s.state = 'not retrieved' then 'no full text' "
        "when s.decided_by = 'model' then coalesce('models: ' || read.who, 'models') else s.decided_by end, s.criterion, "
        "s.score, coalesce(read.why, s.reason, s.code, case when s.state = 'excluded' and s.score is not null then "
        "'by the score: the readers gave no words' end), c.cause "
        f"from {stage} s join records r on r.record_id = s.record_id "
        "left join (select record_id, string_agg(reader, ', ' order by reader) as who, "
        "  string_agg(reason, ' | ' order by reader) as why "
        "  from (select readings.* from readings join current_stages using (stage, fingerprint) where stage = ? "
        "  qualify row_number() over (partition by record_id, reader order by seq desc) = 1) newest "
        "  where decision = 'exclude' group by record_id) read on read.record_id = s.record_id and s.state = 'excluded' "
        "join current_gold g on g.record_id = s.record_id and g.stage = ? and g.decision = 'include' "
        "left join current_causes c on c.record_id = s.record_id and c.stage = ? "
        "where s.state in ('excluded', 'not retrieved') order by s.score, s.record_id"
    )
