"""A candidate field, as a reader of one paper named it: the form it is asked in, and how an answer is read."""

import re
import unicodedata
from typing import Any, get_args

from litcascade.schemas import Frozen, Refer, ReferCode
from litcascade.schemas.fields import Kind
from litcascade.schemas.keys import scrubbed

KINDS: tuple[Kind, ...] = get_args(Kind)
LIMITS = {"quote": 300, "name": 60, "definition": 240, "kind": 10, "example": 120, "remark": 160}
TOKENS = 200  # that one candidate may take


class Candidate(Frozen):
    """One data item that a paper states. `name` is folded to lower case and `_`; `quote_found` says whether its quote stands
    in the text; `flags` say what a person should know of that text."""

    candidate_id: str = ""
    record_id: str = ""
    window: int = 1
    name: str
    kind: Kind
    definition: str
    example: str = ""
    quote: str = ""
    quote_found: bool = False
    remark: str = ""
    flags: tuple[str, ...] = ()


def field_name(text: str) -> str:
    """A name as a field may have it: letters a to z, digits and `_`, a letter first; empty where nothing is left."""
    plain = unicodedata.normalize("NFKD", text).casefold()
    plain = "".join(char for char in plain if not unicodedata.combining(char))
    words = re.sub(r"[^a-z0-9]+", "_", plain).strip("_")
    return words.lstrip("0123456789_")[:60].rstrip("_")


def shape(most: int) -> dict[str, Any]:
    """The JSON schema of an answer with at most so many candidates, every text bounded."""
    texts: dict[str, Any] = {name: {"type": "string", "maxLength": limit} for name, limit in LIMITS.items()}
    item = {**texts, "kind": {"enum": list(KINDS)}}
    entry = {"type": "object", "properties": item, "required": list(item), "additionalProperties": False}
    fields = {"type": "array", "items": entry, "maxItems": most}
    return {"type": "object", "properties": {"fields": fields}, "required": ["fields"], "additionalProperties": False}


def read_candidates(found: dict[str, Any]) -> tuple[list[Candidate], list[str]] | Refer:
    """The candidates of an answer and what was wrong with the entries that are none; a `Refer` where nothing can be used."""
    entries = found.get("fields")
    if not isinstance(entries, list):
        return Refer(code=ReferCode.UNPARSED, detail='there is no list "fields" in the answer')
    good: list[Candidate] = []
    faults: list[str] = []
    for number, entry in enumerate(entries, 1):
        read = _read(entry)
        if isinstance(read, str):
            faults.append(f"entry {number}: {read}")
        else:
            good.append(read)
    if faults and not good:
        return Refer(code=ReferCode.UNPARSED, detail="; ".join(faults)[:300])
    return good, faults


def _read(entry: Any) -> Candidate | str:
    if not isinstance(entry, dict):
        return f"must be an object (got {str(scrubbed(str(entry)))[:60]!r})"
    texts = {name: text_of(entry.get(name), limit) for name, limit in LIMITS.items()}
    name, kind = field_name(texts["name"]), texts["kind"].casefold()
    if not name:
        return f"its name {texts['name'][:60]!r} has no letters a to z"
    if kind not in KINDS:
        return f"'{name}' has the kind {kind[:20]!r}, which is none of {', '.join(KINDS)}"
    if not texts["definition"]:
        return f"'{name}' has no definition"
    return Candidate.model_validate({**texts, "name": name, "kind": kind})


def text_of(value: Any, limit: int) -> str:
    """A text with blanks folded, cut at `limit`; a number as a text, anything else as none."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        value = f"{value:g}"
    return " ".join(str(scrubbed(value)).split())[:limit] if isinstance(value, str) else ""
