"""One record at a time: the same step on a LangGraph record graph, without checkpointer, every turn shown."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, TypedDict

from langgraph.errors import GraphRecursionError
from langgraph.graph import END, START, StateGraph
from langgraph.types import Send

from litcascade.backends import Backend
from litcascade.errors import BackendError, InputError
from litcascade.pipeline.binding import Bound
from litcascade.pipeline.graph import merge_by_id
from litcascade.pipeline.lengths import Lengths
from litcascade.pipeline.lives import next_step, reading_of
from litcascade.pipeline.recorder import Recorder
from litcascade.schemas import Ask, Reading, ReferCode, Request, State, Turn, Verdict
from litcascade.stages import Subject

STEP_LIMIT = 60


class RecordState(TypedDict, total=False):
    """Readings by reader, the policy's last word, and the verdict once it stands."""

    readings: Annotated[dict[str, Reading], merge_by_id]
    asking: tuple[str, ...]
    verdict: Verdict | None


@dataclass
class StageTrace:
    """What happened to a record at one stage."""

    stage: str
    turns: dict[str, list[Turn]] = field(default_factory=dict)
    readings: dict[str, Reading] = field(default_factory=dict)
    verdict: Verdict | None = None
    pending: str | None = None


async def trace_record(
    item: Bound, subject: Subject, backends: Mapping[str, Backend], recorder: Recorder, *, keep: bool = True
) -> StageTrace:
    """Take one record through one stage; stored replies are used, new ones are stored like any run's.

    `keep` appends the verdict to the store (leave it out where one stands). The panel's
    readers are asked in parallel branches; the step limit is a referral, not an exception.
    """
    trace = StageTrace(item.stage.name)
    subject = (await Lengths(item.stage, recorder.store, backends).add([subject]))[0]
    graph = _record_graph(item, subject, backends, recorder, trace)
    try:
        result = await graph.ainvoke({"readings": {}, "asking": (), "verdict": None}, {"recursion_limit": STEP_LIMIT})
        trace.verdict = result.get("verdict")
        trace.readings = result.get("readings", {})
    except GraphRecursionError:
        trace.verdict = Verdict(
            record_id=subject.record.record_id, stage=item.stage.name, state=State.REFERRED, code=ReferCode.LIMIT,
            reason=f"no verdict after {STEP_LIMIT} steps",
        )  # fmt: skip
    except BackendError as error:
        trace.pending = str(error)
    if trace.verdict and keep:
        recorder.verdict(trace.verdict, item.fingerprint)
    await recorder.flush()
    return trace


def _record_graph(item: Bound, subject: Subject, backends: Mapping[str, Backend], recorder: Recorder, trace: StageTrace) -> Any:
    def policy(state: RecordState) -> RecordState:
        decided = item.stage.decide(subject, state["readings"])
        return {"asking": decided.readers} if isinstance(decided, Ask) else {"verdict": decided, "asking": ()}

    def spread(state: RecordState) -> list[Send] | str:
        return [Send("reader", name) for name in state["asking"]] if state.get("verdict") is None else END

    async def reader(name: str) -> RecordState:
        turns = trace.turns.setdefault(name, [])
        while True:
            outcome = next_step(item.stage, subject, name, turns)
            if not isinstance(outcome, Request):
                seen = item.stage.seen(subject, item.stage.readers[name], turns)
                return {"readings": {name: reading_of(name, turns, outcome, seen)}}
            turns.append(await _ask(item, subject, name, outcome, backends, recorder))

    graph = StateGraph(RecordState)
    graph.add_node("policy", policy)
    graph.add_node("reader", reader)  # type: ignore[arg-type]  # Send hands the node a reader's name, not the state
    graph.add_edge(START, "policy")
    graph.add_conditional_edges("policy", spread, ["reader", END])
    graph.add_edge("reader", "policy")
    return graph.compile()


async def _ask(
    item: Bound, subject: Subject, name: str, request: Request, backends: Mapping[str, Backend], recorder: Recorder
) -> Turn:
    known = await recorder.known([request.key])
    if request.key in known:
        return Turn(request=request, reply=known[request.key])
    async for _, came in backends[request.via].ask([request]):
        if isinstance(came, BackendError):
            raise came
        if not recorder.holds(request.key):  # another branch may have put the same question
            recorder.call(item.stage.name, subject.record.record_id, item.stage.readers[name], request, came)
        return Turn(request=request, reply=came)
    raise BackendError("the engine skipped this request")


def require_record(ids: set[str], record_id: str) -> None:
    """Refuse an id that is not in the review."""
    if record_id not in ids:
        raise InputError(f"there is no record '{record_id}' in the review")
