"""Files that are there whole or not at all."""

import os
from pathlib import Path


def write_whole(path: Path, raw: bytes) -> None:
    """Write to a hidden name beside the place and rename, so that the place holds a whole file or the one before."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        part.write_bytes(raw)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
