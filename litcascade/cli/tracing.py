"""`litcascade trace`: one record, every question and answer."""

import asyncio
from typing import Any

import typer

from litcascade.cli.show import print_json
from litcascade.pipeline.binding import bind, identify, make_backends
from litcascade.pipeline.recorder import Recorder
from litcascade.pipeline.review import Review
from litcascade.pipeline.run import require_amendment, store_protocol, store_versions
from litcascade.pipeline.subjects import load_subjects
from litcascade.pipeline.tracing import StageTrace, require_record, trace_record
from litcascade.report import inert
from litcascade.schemas import Answer
from litcascade.store import Store


def show_trace(review: Review, record_id: str, prompts: bool, json_out: bool) -> int:
    """Trace a record through all stages it reaches, print what happened, and return the exit code (3: no reply came)."""
    with review.open() as store:
        require_record({row[0] for row in store.rows("select record_id from records")}, record_id)
        require_amendment(review, store)
        traces = asyncio.run(_trace(review, store, record_id))
    if json_out:
        print_json({"record": record_id, "stages": traces})
        return _code(traces)
    for trace, standing in traces:
        _print(trace, standing, prompts)
    return _code(traces)


def _code(traces: "list[tuple[StageTrace, Standing]]") -> int:
    return 3 if any(standing[0] == "pending" for _, standing in traces) else 0


Standing = tuple[str, str | None]


def _standing(store: Store, stage: str, record_id: str) -> Standing | None:
    """The record's state at a stage and who decided it; None where it has not reached the stage."""
    rows = store.rows(f"select state, decided_by from {stage} where record_id = ?", [record_id])
    return (rows[0][0], rows[0][1]) if rows else None


async def _trace(review: Review, store: Store, record_id: str) -> list[tuple[StageTrace, Standing]]:
    backends = make_backends(review)
    traces: list[tuple[StageTrace, Standing]] = []
    try:
        bound = bind(review, await identify(review.protocol, backends), store)
        store_protocol(review, store)
        store_versions(store, "trace", bound)
        recorder = Recorder(store, "trace")
        for item in bound:
            subject = load_subjects(store, item.stage.name, [record_id])[0]
            standing = _standing(store, item.stage.name, record_id)
            if standing is None:
                break
            if standing[0] == "not retrieved":
                traces.append((StageTrace(item.stage.name, pending="there is no full text of it yet"), standing))
                break
            trace = await trace_record(item, subject, backends, recorder, keep=standing[0] == "pending")
            traces.append((trace, _standing(store, item.stage.name, record_id) or standing))
    finally:
        for backend in backends.values():
            await backend.close()
    return traces


def _print(trace: StageTrace, standing: Standing, prompts: bool) -> None:
    typer.echo(f"== {trace.stage}")
    for reader, turns in trace.turns.items():
        for number, turn in enumerate(turns, start=1):
            request, reply = turn.request, turn.reply
            typer.echo(f"-- {reader}, turn {number} ({request.purpose}), call {request.key}, {request.model}")
            if prompts:
                for message in request.messages:
                    typer.echo(f"[{message.role}] {_lines(message.content)}")
            tokens = f"{reply.prompt_tokens} prompt tokens, {reply.completion_tokens} answer tokens"
            typer.echo(f"   answer ({reply.finish_reason}, {tokens}): {_lines(reply.text or reply.refused or '(none)')}")
    for reading in trace.readings.values():
        typer.echo(f"-- {reading.reader} reads: {_outcome(reading.outcome)}")
    if trace.pending:
        typer.echo(f"=> {standing[0]}: {inert(trace.pending)}")
    elif trace.verdict:
        why = ": ".join(part for part in (trace.verdict.code, trace.verdict.reason) if part)
        typer.echo(f"=> model: {trace.verdict.state.value}" + (f" ({inert(why, 300)})" if why else ""))
        if standing[1] not in (None, "model"):
            typer.echo(f"=> {inert(str(standing[1]))} decided: {standing[0]}")


def _outcome(outcome: Any) -> str:
    if not isinstance(outcome, Answer):
        return f"to a person: {outcome.code.value}" + (f" ({inert(outcome.detail, 200)})" if outcome.detail else "")
    if outcome.values:
        return "; ".join(f"{v.field} = {inert(str(v.error or v.value), 80)}" for v in outcome.values)
    return f"{outcome.decision}" + (f", p(include) = {outcome.score:.3f}" if outcome.score is not None else "")


def _lines(text: str) -> str:
    return "\n   ".join(inert(line) for line in text.splitlines())
