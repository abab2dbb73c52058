"""Ray as far as a stage uses it, in this process: one node, one worker, and a box that is an object."""

import contextlib
from collections.abc import Awaitable, Callable, Iterator
from types import SimpleNamespace
from typing import Any

from litcascade.pipeline.on_ray.worker import ShardWorker


class Remote:
    """A method as Ray's actors have them: called by `remote`, and awaited; what it raises comes where it is awaited."""

    def __init__(self, method: Callable[..., Any]) -> None:
        self.method = method

    def remote(self, *given: Any) -> Awaitable[Any]:
        try:
            answer, fault = self.method(*given), None
        except Exception as error:  # noqa: BLE001  (raised again where it is awaited)
            answer, fault = None, error

        async def later() -> Any:
            if fault is not None:
                raise fault
            return answer

        return Later(later)


class Later:
    """Awaited where someone cares; else nothing is said of it."""

    def __init__(self, made: Callable[[], Awaitable[Any]]) -> None:
        self.made = made

    def __await__(self) -> Any:
        return self.made().__await__()


class Actor:
    """An object whose methods are remote."""

    def __init__(self, whole: Any) -> None:
        self.whole = whole

    def __getattr__(self, name: str) -> Remote:
        return Remote(getattr(self.whole, name))


class LocalRay:
    """Takes the place of the package; `killed` are the actors that were let go."""

    def __init__(self) -> None:
        self.killed: list[Any] = []
        self.util = SimpleNamespace(scheduling_strategies=SimpleNamespace(NodeAffinitySchedulingStrategy=dict))
        self.data = SimpleNamespace(DataContext=Context, ActorPoolStrategy=dict, from_items=lambda rows, **_: Rows(rows))

    def nodes(self) -> list[dict[str, Any]]:
        return [{"Alive": True, "Resources": {"CPU": 4.0, "GPU": 4.0}}]

    def get_runtime_context(self) -> Any:
        return SimpleNamespace(get_node_id=lambda: "here")

    def remote(self, what: Any) -> Any:
        made = SimpleNamespace(
            remote=lambda *given: Actor(what(*given)) if isinstance(what, type) else Remote(what).remote(*given)
        )
        return SimpleNamespace(options=lambda **_: made)

    def kill(self, actor: Any) -> None:
        self.killed.append(actor)


class Context:
    """Options of a data set; none is needed here."""

    def __init__(self) -> None:
        self.autoscaling_config = SimpleNamespace()

    @classmethod
    def get_current(cls) -> "Context":
        return cls()

    def copy(self) -> "Context":
        return self

    @staticmethod
    @contextlib.contextmanager
    def current(_: "Context") -> Iterator[None]:
        yield


class Rows:
    """A data set of shards, worked one after the other where it is read."""

    def __init__(self, rows: list[dict[str, int]]) -> None:
        self.rows = rows
        self.given: tuple[Any, ...] = ()

    def map_batches(self, _: type, *, fn_constructor_args: tuple[Any, ...], **__: Any) -> "Rows":
        self.given = fn_constructor_args
        return self

    def iter_rows(self) -> Iterator[dict[str, Any]]:
        worker = ShardWorker(*self.given)
        try:
            for row in self.rows:
                yield {name: values[0] for name, values in worker({"shard": [row["shard"]]}).items()}
        finally:
            worker.close()
