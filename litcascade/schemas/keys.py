"""Stable keys: the same content has the same key on every machine and in every release."""

import hashlib
import json
from typing import Any

from pydantic import BaseModel, ConfigDict


class Frozen(BaseModel):
    """Base of all data types: immutable, unknown fields refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def scrubbed(value: Any) -> Any:
    """The value with every lone surrogate in its texts replaced, so that it can be written as UTF-8 anywhere."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, list):
        return [scrubbed(item) for item in value]
    if isinstance(value, dict):
        return {scrubbed(key): scrubbed(item) for key, item in value.items()}
    return value


def digest(content: Any) -> str:
    """Return 32 hexadecimal digits (128 bits of SHA-256) of the canonical JSON of `content`.

    Dict order does not matter; anything JSON cannot hold raises TypeError.
    """
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
