"""Engines that answer requests; the only floor that knows HTTP, instructor and weights."""

from litcascade.backends import embedded, http, offline, recorded  # noqa: F401  (importing registers them)
from litcascade.backends.base import BACKENDS, Backend, Came

__all__ = ["BACKENDS", "Backend", "Came"]
