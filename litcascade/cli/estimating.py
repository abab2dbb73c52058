"""`run --estimate`: the table of what a run would ask and cost."""

import asyncio

from litcascade.cli.show import print_json, print_tables
from litcascade.pipeline.binding import make_backends
from litcascade.pipeline.estimating import Estimated, Prices, StageEstimate, estimate
from litcascade.pipeline.extrapolating import Span
from litcascade.pipeline.foretelling.foretelling import Elsewhere, Row, Told, foretell_review
from litcascade.pipeline.review import Review
from litcascade.report import Table
from litcascade.schemas.bench import BenchPrices


def estimate_and_print(
    review: Review, sample: int, per_million: float | None, per_hour: float | None, elsewhere: Elsewhere, *, probed: bool,
    json_out: bool,
) -> None:  # fmt: skip
    """Estimate and print; prices that are not given are those of the protocol's `[bench.prices]`."""
    prices = _prices(review, per_million, per_hour)
    done, told = asyncio.run(_estimate(review, sample, elsewhere, probed))
    if json_out:
        played = {"replicas": [_plain_row(row, prices) for row in told.rows], "notes": told.notes} if told else {}
        print_json({"stages": [_plain(stage, prices) for stage in done.stages], "sample": _sample(done), **played})
        return
    print_tables([estimate_table(done, prices), *([replicas_table(told, prices)] if told else [])])


async def _estimate(review: Review, sample: int, elsewhere: Elsewhere, probed: bool) -> tuple[Estimated, Told | None]:
    backends = make_backends(review)
    try:
        with review.open() as store:
            done = await estimate(review, store, backends, sample=sample, probed=probed)
            return done, await foretell_review(review, store, done, elsewhere) if elsewhere.replicas else None
    finally:
        for backend in backends.values():
            await backend.close()


def _prices(review: Review, per_million: float | None, per_hour: float | None) -> Prices:
    bench = review.protocol.bench
    declared = bench.prices if bench else BenchPrices()
    return Prices(
        declared.per_million_tokens if per_million is None else per_million,
        declared.per_gpu_hour if per_hour is None else per_hour,
    )


def estimate_table(done: Estimated, prices: Prices) -> Table:
    """One row a stage, and one for what may still come to it."""
    header = ["stage", "records", "requests", "prompt tokens", "answer tokens", "time", "GPU hours", "cost"]
    rows, notes = [], []
    for stage in done.stages:
        name = f"{stage.stage}, at most" if stage.at_most else stage.stage
        cost = stage.cost(prices)
        rows.append(
            [
                name, stage.waiting, _whole(stage.requests), _whole(stage.prompt), _whole(stage.answer), _time(stage.seconds),
                _shown(stage.gpu_hours, "{:,.2f}"), _shown(cost, "{:,.2f}"),
            ]
        )  # fmt: skip
        if stage.repairs:
            notes.append(f"{name}: {stage.repairs:.1%} more questions are counted for repairs, as measured")
        notes += [f"{name}: {words}" for words in stage.notes]
    if any(stage.at_most for stage in done.stages):
        notes.append("at most: as if every record that waits at an earlier stage (and has a text, where one is read) went on")
    if done.sampled:
        notes.append(f"the sample: {done.sampled} record(s), {done.calls} call(s), {done.tokens:,} tokens; its answers are kept")
    if done.stopped:
        notes.append(f"the sample was cut short: {done.stopped}")
    if prices.per_million is None and prices.per_hour is None:
        notes.append("no prices: give --per-million or --per-hour, or [bench.prices] in the protocol")
    return Table("What a run would ask and cost (95 % intervals)", header, rows, notes)


def replicas_table(told: Told, prices: Prices) -> Table:
    """One row for a stage, a number of replicas, and one driver or shards."""
    header = ["stage", "records", "replicas", "worked by", "time", "GPU hours", "cost", "engines busy", "asked again"]
    rows = []
    for row in told.rows:
        cost = row.cost(prices)
        rows.append(
            [
                row.stage, row.plan.records, row.plan.replicas, "shards" if row.plan.sharded else "one run",
                _time(Span(row.foretold.seconds, row.foretold.low, row.foretold.high)), f"{row.gpu_hours():,.2f}",
                None if cost is None else f"{cost:,.2f}", None if row.foretold.used is None else f"{row.foretold.used:.0%}",
                f"{row.foretold.again:,.0f}",
            ]
        )  # fmt: skip
    notes = [
        *told.notes,
        "ranges: from the 2.5th to the 97.5th percentile of 3 to 20 plays, each on measured durations drawn anew",
    ]
    return Table("Played through on more replicas", header, rows, notes)


def _plain_row(row: Row, prices: Prices) -> dict[str, object]:
    plan = {"records": row.plan.records, "replicas": row.plan.replicas, "sharded": row.plan.sharded}
    told = {name: getattr(row.foretold, name) for name in row.foretold.__dataclass_fields__}
    return {"stage": row.stage, **plan, **told, "gpu_hours": row.gpu_hours(), "cost": row.cost(prices)}


def _shown(span: Span | None, form: str) -> str | None:
    if span is None:
        return None
    value, low, high = (form.format(part) for part in (span.value, span.low, span.high))
    return value if low == high else f"{value} ({low}–{high})"


def _whole(span: Span | None) -> str | None:
    return _shown(span, "{:,.0f}")


def _time(span: Span | None) -> str | None:
    if span is None:
        return None
    unit, size = next((pair for pair in (("h", 3600.0), ("min", 60.0)) if span.value >= pair[1]), ("s", 1.0))
    shown = _shown(span.times(1 / size), "{:,.1f}")
    return f"{shown} {unit}"


def _plain(stage: StageEstimate, prices: Prices) -> dict[str, object]:
    told = {name: getattr(stage, name) for name in stage.__dataclass_fields__}
    return {**told, "gpu_hours": stage.gpu_hours, "cost": stage.cost(prices)}


def _sample(done: Estimated) -> dict[str, object]:
    return {"records": done.sampled, "calls": done.calls, "tokens": done.tokens, "stopped": done.stopped}
