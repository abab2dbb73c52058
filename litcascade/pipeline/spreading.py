"""Where a run's stages are worked when not in this process: what is handed over, and what is expected back."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from litcascade.backends import Backend
from litcascade.pipeline.executor import Spent, Stop
from litcascade.pipeline.observing import Observer
from litcascade.pipeline.review import Review
from litcascade.schemas import ModelRef
from litcascade.store import Store


@dataclass(frozen=True)
class StageTask:
    """One stage of a run with something pending.

    `spent` and `stop` are the run's own: what is used is added to the one, and the other is watched. `on_tick` takes how many
    more records have a verdict.
    """

    review: Review
    store: Store
    models: Mapping[str, ModelRef]
    stage: str
    run_id: str
    pending: int
    probed: bool
    spent: Spent
    stop: Stop
    on_tick: Callable[[int], None]
    observer: Observer


class Spread(Protocol):
    """Other machines that work stages."""

    async def identify(self, review: Review, backends: Mapping[str, Backend]) -> dict[str, ModelRef]:
        """Every model with revision and engine, as the machines that will run it tell."""
        ...

    async def work(self, task: StageTask) -> None:
        """Work the stage until what is left cannot be decided now, or `stop` is set; all that was done is in the store then."""
        ...
