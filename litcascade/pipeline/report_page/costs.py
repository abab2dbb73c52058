"""What it cost: runs, calls by stage and model, and the pace of people."""

import json

from litcascade.pipeline.review import Review
from litcascade.report.page import Block, absent
from litcascade.report.tables import Table
from litcascade.schemas.bench import BenchPrices
from litcascade.store import Store

BREAK = 1_800  # seconds: a longer gap between two decisions is no time spent on one


def cost_blocks(review: Review, store: Store) -> list[Block]:
    """Tables of what stands in the store; prices are the reader's to put in."""
    blocks: list[Block] = []
    runs = store.rows(
        "select runs.run_id, runs.at_time::text, e.status, epoch(e.at_time) - epoch(runs.at_time), e.spent, runs.code_version "
        "from runs left join (select * from run_ends qualify row_number() over (partition by run_id order by seq desc) = 1) e "
        "using (run_id) order by runs.seq"
    )
    if runs:
        rows = [[run, at[:19], how or "not ended", seconds, *_spent(spent), code] for run, at, how, seconds, spent, code in runs]
        header = [
            "run",
            "begun",
            "ended",
            "seconds",
            "calls",
            "answers from the store",
            "prompt tokens",
            "answer tokens",
            "program",
        ]
        blocks.append(Table("Runs", header, rows))
    else:
        blocks.append(absent("Nothing was run yet."))
    calls = store.rows(
        "select stage, model, count(*), sum(prompt_tokens)::bigint, sum(cached_tokens)::bigint, sum(completion_tokens)::bigint, "
        "sum(seconds), count(distinct record_id) from calls group by 1, 2 order by 1, 2"
    )
    if calls:
        rows = [[*row[:7], row[2] / row[7] if row[7] else None] for row in calls]
        header = [
            "stage",
            "model",
            "calls",
            "prompt tokens",
            "of these cached",
            "answer tokens",
            "engine seconds",
            "calls a record",
        ]
        blocks.append(Table("Calls by stage and model", header, rows, ["engine seconds of calls that ran at once are added up"]))
    else:
        blocks.append(absent("No model was called, so there are no calls, tokens or seconds to report."))
    blocks += _durations(store)
    failed = store.rows("select stage, count(*), count(distinct record_id) from failures group by 1 order by 1")
    if failed:
        blocks.append(Table("Requests without a reply", ["stage", "requests", "records"], failed))
    blocks.append(_people(store))
    prices = review.protocol.bench.prices if review.protocol.bench else None
    if prices is None:
        return [*blocks, absent("No prices are declared ([bench.prices]), so tokens and seconds are not turned into money.")]
    return [*blocks, _money(store, prices)]


def _money(store: Store, prices: BenchPrices) -> Table:
    """Tokens, engine seconds and decisions at the declared prices; a price that is not declared leaves its cost undefined."""
    tokens, seconds = store.rows("select sum(prompt_tokens + completion_tokens)::bigint, sum(seconds) from calls")[0]
    decisions = int(store.value("select count(*) from adjudications where seq not in (select of_seq from withdrawn)"))
    minutes = prices.minutes_per_record
    rows: list[list[object]] = [
        ["tokens, millions", (tokens or 0) / 1e6, prices.per_million_tokens],
        ["engine hours", (seconds or 0.0) / 3600, prices.per_gpu_hour],
        ["hours of people", None if minutes is None else decisions * minutes / 60, prices.per_hour],
    ]
    told = [[*row, row[1] * row[2] if isinstance(row[1], float) and isinstance(row[2], float) else None] for row in rows]
    known = [row[3] for row in told if isinstance(row[3], float)]
    told.append(["together", None, None, sum(known) if len(known) == len(told) else None])
    notes = [f"{decisions} decision(s) of people at {minutes:g} minutes each"] if minutes is not None else []
    notes.append("a cost without its price is undefined, and so is the sum then; reading before litcascade is not in it")
    return Table("Cost at the declared prices", ["what", "amount", "price of one", "cost"], told, notes)


def _spent(spent: str | None) -> list[int | None]:
    told = json.loads(spent) if spent else {}
    return [told.get(name) for name in ("calls", "from_store", "prompt_tokens", "completion_tokens")]


def _durations(store: Store) -> list[Block]:
    """How long calls took, the slowest of them, and how long a stage of a run waited for its last twentieth."""
    rows = store.rows(
        "select stage, model, count(*), median(seconds), quantile_cont(seconds, 0.95), max(seconds), arg_max(record_id, seconds) "
        "from calls where seconds is not null group by 1, 2 order by 1, 2"
    )
    if not rows:
        return []
    header = ["stage", "model", "calls", "median, s", "95th percentile, s", "longest, s", "record of the longest"]
    blocks: list[Block] = [Table("How long calls took", header, rows)]
    spans = store.rows(
        "select run_id, stage, count(*), epoch(max(at_time)) - min(epoch(at_time) - coalesce(seconds, 0)), "
        "epoch(max(at_time)) - epoch(quantile_disc(at_time, 0.95)) from calls where run_id is not null "
        "group by 1, 2 order by min(seq)"
    )
    told = [[run, stage, calls, lasted, tail, tail / lasted if lasted else None] for run, stage, calls, lasted, tail in spans]
    header = ["run", "stage", "calls", "seconds", "of these for the last twentieth", "share"]
    note = "evenly, the last twentieth of the calls takes a twentieth of the time: a larger share is spent on stragglers"
    blocks.append(Table("Seconds by stage, and stragglers", header, told, [note]))
    return blocks


def _people(store: Store) -> Block:
    rows = store.rows(
        "with gaps as (select who, at_time, epoch(at_time) - epoch(lag(at_time) over (partition by who order by seq)) as gap "
        "from adjudications where seq not in (select of_seq from withdrawn)) "
        f"select who, count(*), min(at_time)::text, max(at_time)::text, median(gap) filter (gap >= 1 and gap < {BREAK}) "
        "from gaps group by 1 order by 1"
    )
    if not rows:
        return absent("No person has decided on a record yet, so there is no time of people to report.")
    told = [[who, count, first[:16], last[:16], pace] for who, count, first, last, pace in rows]
    header = ["who", "decisions", "first", "last", "median seconds a decision"]
    notes = [f"gaps of {BREAK // 60} minutes and more are breaks; decisions imported together have no pace"]
    return Table("Decisions of people", header, told, notes)
