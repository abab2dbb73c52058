"""The review's store: one DuckDB file, appended to, with its current state as views."""

from litcascade.store.store import FILE_NAME, Store, now

__all__ = ["FILE_NAME", "Store", "now"]
