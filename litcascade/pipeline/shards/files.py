"""Files that are there whole or not at all."""

import hashlib
import json
import os
import uuid
from pathlib import Path
from typing import Any


def write_whole(path: Path, content: bytes) -> None:
    """Write a file under a temporary name, force it to the disk, and give it its name: a crash leaves no half of it."""
    temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex[:8]}.tmp")
    try:
        with temporary.open("wb") as out:
            out.write(content)
            out.flush()
            os.fsync(out.fileno())
        temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise OSError(error.errno, error.strerror or str(error), str(path)) from error  # the name that a person knows
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def write_json(path: Path, content: Any) -> None:
    """Write indented JSON, whole or not at all."""
    write_whole(path, (json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode())


def sha256(content: bytes) -> str:
    """The SHA-256 of the bytes, in hexadecimal digits."""
    return hashlib.sha256(content).hexdigest()


def drop_torn(folder: Path, name: str = "*") -> None:
    """Delete the temporary files that a crash left behind, of one file alone where others are at work in the folder."""
    for path in folder.glob(f".{name}.*.tmp"):
        path.unlink(missing_ok=True)
