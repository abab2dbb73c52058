"""Work that makes many short-lived objects, undisturbed."""

import contextlib
import gc
from collections.abc import Iterator


@contextlib.contextmanager
def calm_collector() -> Iterator[None]:
    """Let Python look for cycles more rarely: a run makes many short-lived objects and hardly a cycle (half again as fast)."""
    before = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()
