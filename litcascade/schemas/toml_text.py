"""Values as TOML text: whatever stands in a string stays inside it, and what the eye would not see is escaped."""

import json
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

from litcascade.schemas.keys import scrubbed

_HIDDEN = ("Cc", "Cf", "Co", "Cs", "Zl", "Zp")


def toml_string(text: str) -> str:
    """A basic string on one line: control signs, line breaks, bidirectional and invisible characters as escapes; nothing is lost.

    Lone surrogates, which no file can hold, are replaced.
    """
    return "".join(_escaped(char) for char in json.dumps(scrubbed(text), ensure_ascii=False))


def _escaped(char: str) -> str:
    if unicodedata.category(char) not in _HIDDEN:
        return char
    code = ord(char)
    return f"\\u{code:04X}" if code <= 0xFFFF else f"\\U{code:08X}"


def toml_value(value: Any) -> str:
    """A text, number, truth value, list or table (inline) as TOML; None and anything else is a `TypeError`."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return toml_string(value)
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, Mapping):
        pairs = ", ".join(f"{toml_string(str(key))} = {toml_value(item)}" for key, item in value.items())
        return f"{{ {pairs} }}" if pairs else "{}"
    if isinstance(value, Sequence):
        return f"[{', '.join(toml_value(item) for item in value)}]"
    raise TypeError(f"{value!r} is no value that TOML holds")


def toml_lines(values: Mapping[str, Any]) -> list[str]:
    """A line `key = value` for each; keys are plain words."""
    return [f"{key} = {toml_value(value)}" for key, value in values.items()]
