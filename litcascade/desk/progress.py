"""How far the work is: decisions by person, their pace, and how far people agree with one another and with themselves."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from statistics import median

import polars as pl

from litcascade.eval import Estimate
from litcascade.eval.agreement import inter_rater
from litcascade.store import Store

PAUSE = 600.0  # seconds after which the next decision begins a new sitting
SPOKEN = """
select stage, record_id, who, decision, seq, at_time, purpose from (
    select stage, record_id, who, decision, seq, at_time, 'double' as purpose from person_readings
    union all select stage, record_id, who, decision, seq, at_time, purpose from opinions
    union all select stage, record_id, who, decision, seq, at_time, 'settled' from adjudications
) where seq not in (select of_seq from withdrawn)
"""


@dataclass(frozen=True)
class Pace:
    """One person: decisions today and in all, and the median seconds between two of one sitting (None: too few)."""

    who: str
    today: int
    total: int
    seconds: float | None


@dataclass(frozen=True)
class Agreed:
    """How far two readings agree: over how many records, percent and kappa as words, undefined with the reason."""

    who: str
    n: int
    percent: str
    kappa: str


def paces(store: Store, today: datetime | None = None) -> list[Pace]:
    """One row a person who decided anything at the desk or by import, in the order of names."""
    start = (today or datetime.now(UTC)) - timedelta(days=1)
    every = (
        f"select who, at_time, seq from ({SPOKEN}) where not contains(who, ' + ') "
        "union all select who, at_time, seq from judge_labels union all select who, at_time, seq from causes "
        "union all select who, at_time, seq from pairs where who <> 'rules' "
        "union all select who, at_time, seq from mapping_decisions union all select who, at_time, seq from proposal_words"
    )
    rows = store.rows(
        "select any_value(who), count(*) filter (at_time >= $start), count(*), list(epoch(at_time) order by seq) "
        f"from ({every}) where who is not null "
        "and seq not in (select of_seq from withdrawn) group by lower(who) order by lower(who)",
        {"start": start},
    )
    return [Pace(who, day, total, between(times)) for who, day, total, times in rows]


def between(times: Sequence[float]) -> float | None:
    """The median of the seconds between neighbouring times, breaks left out; None where no two belong to one sitting."""
    gaps = [later - earlier for earlier, later in pairwise(times) if 0 < later - earlier <= PAUSE]
    return median(gaps) if gaps else None


def agreements(store: Store) -> list[Agreed]:
    """Agreement of each two people who read the same records blind, over the stages together.

    Each person's first opinion counts: later ones, and those taken back once another had spoken, may know the other's.
    """
    rows = store.rows(
        "with said as (select stage || ' ' || record_id || ' ' || coalesce(criteria_hash, '') as item, who, decision, seq from ("
        "select stage, record_id, criteria_hash, who, decision, seq from person_readings union all "
        "select stage, record_id, criteria_hash, who, decision, seq from opinions where purpose in ('double', 'late'))), "
        "taken as (select of_seq, min(seq) as at_seq from withdrawn group by 1), heard as (select s.* from said s "
        "left join taken on taken.of_seq = s.seq where at_seq is null or exists (select 1 from said o "
        "where o.item = s.item and lower(o.who) <> lower(s.who) and o.seq < at_seq)), firsts as (select * from heard "
        "qualify row_number() over (partition by item, lower(who) order by seq) = 1) "
        "select item, first_value(who) over (partition by lower(who) order by seq), decision from firsts "
        "where decision is not null"
    )
    if len({row[1] for row in rows}) < 2:
        return []
    table = pl.DataFrame(rows, schema={"record_id": pl.String, "rater": pl.String, "label": pl.String}, orient="row")
    return [
        Agreed(
            f"{pair.first} and {pair.second}",
            pair.agreement.percent.n,
            _words(pair.agreement.percent),
            _words(pair.agreement.kappa),
        )
        for pair in inter_rater(table)
        if pair.agreement.percent.n
    ]


def with_themselves(store: Store) -> list[Agreed]:
    """How many of the records that people read again they decided as before, by person."""
    rows = store.rows(
        f"with said as ({SPOKEN}), again as (select * from said where purpose = 'again' and decision is not null "
        "qualify row_number() over (partition by stage, record_id, lower(who) order by seq desc) = 1) "
        "select any_value(again.who), count(*), count(*) filter (again.decision = first.decision) from again join ("
        "select * from said where purpose <> 'again' and decision is not null "
        "qualify row_number() over (partition by stage, record_id, lower(who) order by seq desc) = 1) first "
        "on first.stage = again.stage and first.record_id = again.record_id and lower(first.who) = lower(again.who) "
        "group by lower(again.who) order by 1"
    )
    return [Agreed(who, n, f"{same / n:.0%}", "") for who, n, same in rows]


def _words(estimate: Estimate) -> str:
    return f"{estimate.value:.2f}" if estimate.value is not None else f"undefined: {estimate.note}"
