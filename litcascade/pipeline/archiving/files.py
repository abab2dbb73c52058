"""Files that are there whole or not at all, checksums while copying, and a zip whose bytes depend on its content alone."""

import contextlib
import hashlib
import os
import shutil
import uuid
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

BLOCK = 2**20
_WHEN = (1980, 1, 1, 0, 0, 0)  # of every file in a zip, so that the same content gives the same bytes


@contextlib.contextmanager
def working_folder(target: Path) -> Iterator[Path]:
    """A hidden folder beside the target for files on their way, gone at the end; whatever else is there is left alone."""
    folder = target.parent / f".{target.name}.{uuid.uuid4().hex[:8]}.tmp"
    folder.mkdir(parents=True)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def stays_inside(name: str) -> bool:
    """Whether a name in a zip is a plain path inside its folder: not absolute, no `.` or `..`, backslash or control sign."""
    parts = name.split("/")
    return name.isprintable() and "\\" not in name and ":" not in parts[0] and not {"", ".", ".."} & set(parts)


def copy_summed(source: IO[bytes], target: IO[bytes], limit: int | None = None) -> tuple[int, str]:
    """Copy a stream; returns bytes and SHA-256. At most one block beyond `limit` is read."""
    digest, size = hashlib.sha256(), 0
    while block := source.read(BLOCK):
        digest.update(block)
        size += len(block)
        target.write(block)
        if limit is not None and size > limit:
            break
    return size, digest.hexdigest()


class ZipWriter:
    """A zip in which every file has the same date and rights; Parquet is stored as it is, the rest is packed."""

    def __init__(self, path: Path) -> None:
        self._out = path.open("wb")
        self._zip = zipfile.ZipFile(self._out, "w", allowZip64=True)

    def add(self, name: str, source: Path) -> tuple[int, str]:
        """Add a file; returns its bytes and SHA-256."""
        info = zipfile.ZipInfo(name, _WHEN)
        info.compress_type = zipfile.ZIP_STORED if name.endswith(".parquet") else zipfile.ZIP_DEFLATED
        info.external_attr = 0o644 << 16
        info.create_system = 3
        with source.open("rb") as data, self._zip.open(info, "w", force_zip64=source.stat().st_size > 2**31) as target:
            return copy_summed(data, target)

    def close(self) -> None:
        """End the zip and force it to the disk."""
        self._zip.close()
        self._out.flush()
        os.fsync(self._out.fileno())
        self._out.close()

    def abandon(self) -> None:
        """Let go of a file that is not wanted any more, whatever its disk still takes."""
        with contextlib.suppress(OSError, ValueError):
            self._zip.close()
        with contextlib.suppress(OSError):
            self._out.close()
