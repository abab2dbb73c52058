"""The run graph: one node a stage, then a gate where people come first. Its state is a cursor and counts, never records."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated, Any, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt

Counts = dict[str, int]


class ClashError(Exception):
    """Two branches wrote different values under one id."""


def merge_by_id(left: dict[str, Any], right: dict[str, Any]) -> dict[str, Any]:
    """Join what parallel branches wrote; the same id with another value is an error, never "last one wins"."""
    clash = [key for key in left.keys() & right.keys() if left[key] != right[key]]
    if clash:
        raise ClashError(f"two branches wrote different values for '{clash[0]}'")
    return {**left, **right}


def latest(_: dict[str, Any], right: dict[str, Any]) -> dict[str, Any]:
    """One writer at a time: the newer value."""
    return right


class RunState(TypedDict, total=False):
    """Which stage is done, and how many records stand where; a few hundred bytes whatever the size of the review."""

    counts: Annotated[dict[str, Counts], latest]
    stopped: str | None


StageRunner = Callable[[str], Awaitable[Counts]]
Waiting = Callable[[str], int]


def build_run_graph(
    stages: Sequence[str],
    gates: Sequence[str],
    run_stage: StageRunner,
    waiting: Waiting,
    stopped: Callable[[], str | None],
    checkpointer: Any = None,
) -> Any:
    """Compile the graph: `run_stage` works a stage through, `waiting` counts who still needs a person after it.

    Gates only read: an interrupted node runs again from its top.
    """
    graph = StateGraph(RunState)

    def stage_node(name: str) -> Callable[[RunState], Awaitable[RunState]]:
        async def node(state: RunState) -> RunState:
            counts = await run_stage(name)
            return {"counts": {**state.get("counts", {}), name: counts}, "stopped": stopped()}

        return node

    def gate_node(name: str) -> Callable[[RunState], RunState]:
        def node(_: RunState) -> RunState:
            while left := waiting(name):  # resumed too early, it waits again
                interrupt({"stage": name, "waiting": left})
            return {}

        return node

    order: list[tuple[str, Any]] = []
    for name in stages:
        order.append((name, stage_node(name)))
        if name in gates:
            order.append((f"{name} gate", gate_node(name)))
    for name, node in order:
        graph.add_node(name, node)
    graph.add_edge(START, order[0][0])
    for (name, _), following in zip(order, [*[name for name, _ in order[1:]], END], strict=True):
        graph.add_conditional_edges(name, _on_or_end(following), {"on": following, "end": END})
    return graph.compile(checkpointer=checkpointer)


def _on_or_end(following: str) -> Callable[[RunState], str]:
    def choose(state: RunState) -> str:
        return "end" if state.get("stopped") or following == END else "on"

    return choose
