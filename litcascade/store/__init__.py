"""The review's store: one DuckDB file, appended to, with its current state as views."""

from litcascade.store.disk import network_disk_words
from litcascade.store.store import FILE_NAME, Store, now

__all__ = ["FILE_NAME", "Store", "network_disk_words", "now"]
