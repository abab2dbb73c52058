"""Readers and people: how often a first reply was in form, who agrees with whom, and what people decided of the models."""

import polars as pl

from litcascade.errors import InputError
from litcascade.eval.agreement import inter_rater
from litcascade.eval.intervals import wilson
from litcascade.pipeline.review import Review
from litcascade.report.page import Block, absent
from litcascade.report.tables import Table
from litcascade.schemas import SCREENING
from litcascade.store import Store

_FRAME = {"record_id": pl.String, "rater": pl.String, "label": pl.String}


def reliability_blocks(store: Store) -> list[Block]:
    """The reliability rate of every reader: first replies that were in the form asked for."""
    rows = store.rows(
        "select stage, reader, count(*) filter (orderly), count(*) from readings join current_stages using (stage, fingerprint) "
        "where len(calls) > 0 group by 1, 2 order by 1, 2"
    )
    if not rows:
        return [absent("No model was asked under the stages in force, so there is no reliability rate.")]
    told = [[stage, reader, orderly, total, orderly / total, *wilson(orderly, total)] for stage, reader, orderly, total in rows]
    notes = [
        "share of readings whose first reply was in the form asked for; the rest was repaired or referred; Wilson's interval"
    ]
    return [Table("Reliability rate", ["stage", "reader", "in form", "readings", "rate", "low", "high"], told, notes)]


def agreement_blocks(review: Review, store: Store) -> list[Block]:
    """Agreement between the readers of a stage, between people, and of people with the models."""
    blocks: list[Block] = []
    rows: list[list[object]] = []
    for stage in (name for name, _ in review.protocol.stages.items() if name in SCREENING):
        rows += _pairs(stage, "readers", store.frame(_READERS, _FRAME, [stage]))
        rows += _pairs(stage, "blind opinions", store.frame(_OPINIONS, _FRAME, [stage]))
    if rows:
        header = [
            "stage",
            "who",
            "first",
            "second",
            "both judged",
            "one alone",
            "agree",
            "low",
            "high",
            "kappa",
            "PABAK",
            "on include",
            "on exclude",
        ]
        notes = ["records that a reader could not judge count as judged by one alone; kappa moves with the shares of the labels"]
        blocks.append(Table("Agreement", header, rows, notes))
    else:
        blocks.append(absent("No two readers judged the same records at a stage, so there is no agreement to report."))
    decided = store.rows(
        "select d.stage, coalesce(v.state, 'no verdict'), d.decision, count(*) from (select * from adjudications "
        "where decision is not null and seq not in (select of_seq from withdrawn) "
        "qualify row_number() over (partition by record_id, stage order by seq desc) = 1) d left join ("
        "select v.* from verdicts v join current_stages using (stage, fingerprint) "
        "qualify row_number() over (partition by v.record_id, v.stage order by v.seq desc) = 1) v "
        "on v.record_id = d.record_id and v.stage = d.stage group by 1, 2, 3 order by 1, 2, 3"
    )
    if decided:
        table = Table("What people decided, by what the models had said", ["stage", "models", "people", "records"], decided)
        blocks.append(table)
    else:
        blocks.append(absent("No person has decided on a record yet."))
    return blocks


_READERS = (
    "select record_id, reader, decision from (select r.* from readings r join current_stages using (stage, fingerprint) "
    "where stage = ? qualify row_number() over (partition by record_id, reader order by seq desc) = 1) where decision is not null"
)
_OPINIONS = (
    "select record_id, who, decision from (select * from opinions where stage = ? and purpose = 'double' "
    "and seq not in (select of_seq from withdrawn) "
    "qualify row_number() over (partition by record_id, who order by seq desc) = 1) where decision is not null"
)


def _pairs(stage: str, who: str, frame: pl.DataFrame) -> list[list[object]]:
    if frame["rater"].n_unique() < 2:
        return []
    try:
        pairs = inter_rater(frame)
    except InputError:  # a label beside include and exclude: nothing to compare
        return []
    return [
        [
            stage, who, pair.first, pair.second, pair.agreement.percent.n, pair.only_one, pair.agreement.percent.value,
            pair.agreement.percent.low, pair.agreement.percent.high, pair.agreement.kappa.value, pair.agreement.pabak.value,
            pair.agreement.positive.value, pair.agreement.negative.value,
        ]
        for pair in pairs
    ]  # fmt: skip
