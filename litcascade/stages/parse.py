"""Read an answer strictly: a verdict is found, or the reason why not. Nothing falls through to a label.

The order of trust: the finish reason; strict JSON; JSON or a marker after the reasoning block; a lone verdict word at
the head or on the last line of the prose. Two different verdicts are a conflict, never a choice; a word that what
stands around it could turn round decides nothing.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

from litcascade.schemas import Refer, ReferCode, Reply
from litcascade.stages.words import BOOLEAN_KEYS, DECISION_KEYS, ENGLISH, MEANING, Word, Words, meaning

LONGEST_NUMBER = 300  # digits
_TEMPLATE = re.compile(r"<\|[a-z][a-z_]{2,30}\|>|\[/?INST\]|<</?SYS>>|</?(?:start|end)_of_turn>")
_FENCE = re.compile(r"```[a-zA-Z]*\n?|```")
_REASONING_END = re.compile(r"</(?:think|thinking|thought|thoughts|reasoning)>", re.IGNORECASE)
_REASONING_START = re.compile(r"<(?:think|thinking|thought|thoughts|reasoning)>", re.IGNORECASE)
_MARKER = re.compile(
    r"<decision>\s*([^<>]*?)\s*</decision>"
    r"|(?:^|\n)[^\n:=]{0,60}?\b(?:decision|verdict|final answer)\b[ \t*_]*[:=]([^\n]*)",
    re.IGNORECASE,
)
_ANSWER_LINE = re.compile(r"(?:^|\n)[\s>#*_-]*answer[\s*_]*[:=][ \t]*([^\n]*)\s*$", re.IGNORECASE)
_DRESS = " \t\r\n*_`#>\"'“”‘’«»()[]-–—•:.!"
_HEAD = re.compile(r"^([^\W\d_]+(?:[/’'-][^\W\d_]+)*)(.*)$", re.DOTALL)
_EXCLUDING = re.compile(r"exclu|ineligib|irrelevan|ausschl|ausgeschl|leave out|left out", re.IGNORECASE)
_INCLUDING = re.compile(r"inclu|(?<!in)eligib|(?<!ir)relevan|einschl|eingeschl|\bke(?:ep|pt)\b", re.IGNORECASE)
_NEGATION = re.compile(
    r"\b(?:no|not|none|never|nor|neither|nothing|cannot|without|hardly|kein\w*|nicht|pas|aucun\w*|sin|não|нет|не)\b|n[’']t\b",
    re.IGNORECASE,
)


def template_mark(text: str) -> str | None:
    """The first mark of a chat template in an answer: the server wraps messages in another model's template."""
    found = _TEMPLATE.search(text)
    return found.group() if found else None


def unusable(reply: Reply) -> Refer | None:
    """Why a reply cannot be read at all, before any parsing; None where it can."""
    if reply.refused is not None:
        long = re.search(r"context|too long|maximum.{0,20}length|exceed", reply.refused, re.IGNORECASE)
        return Refer(code=ReferCode.TOO_LONG if long else ReferCode.REJECTED, detail=reply.refused[:300])
    blank = reply.text is None or not reply.text.strip()
    if reply.finish_reason == "length":
        if blank:
            cause = "the reasoning used up the tokens" if reply.reasoning else "no visible text"
        elif re.search(r"\s{16,}$", reply.text or ""):
            cause = "a run of blanks used up the tokens"
        else:
            cause = "the answer was cut"
        return Refer(code=ReferCode.TRUNCATED, detail=cause)
    if blank:
        where = "the engine put all text in its reasoning field" if reply.reasoning else "the engine gave no text"
        return Refer(code=ReferCode.EMPTY, detail=where)
    mark = template_mark(reply.text or "")
    if mark:
        return Refer(code=ReferCode.TEMPLATE, detail=f"{mark}: the model is served with another's chat template")
    if reply.finish_reason == "content_filter":
        return Refer(code=ReferCode.REJECTED, detail="the engine's content filter stopped the answer")
    return None


def read_word(reply: Reply, words: Words = MEANING) -> Word | Refer:
    """Read include, exclude or unclear from a reply, or say why a person must look; `words` are those that count."""
    problem = unusable(reply)
    if problem:
        return problem
    text = reply.text or ""
    alone = meaning(text, words)
    if alone:
        return alone
    whole = strict_json(text)
    if whole is not None:
        return _of_object(whole, words, text) if isinstance(whole, dict) else _nothing(text)
    visible = after_reasoning(text)
    if isinstance(visible, Refer):
        return visible
    return _read_visible(visible, words)


def read_object(reply: Reply) -> dict[str, Any] | Refer:
    """The one JSON object of a reply; none, or two different ones, cannot be used."""
    problem = unusable(reply)
    if problem:
        return problem
    text = reply.text or ""
    whole = strict_json(text)
    if isinstance(whole, dict):
        return whole
    visible = after_reasoning(text)
    if isinstance(visible, Refer):
        return visible
    objects = list(json_objects(visible))
    if not objects:
        return Refer(code=ReferCode.UNPARSED, detail="no JSON object in the answer")
    if any(other != objects[0] for other in objects[1:]):
        return Refer(code=ReferCode.CONFLICT, detail="two different JSON objects in the answer")
    return objects[0]


def _read_visible(visible: str, words: Words) -> Word | Refer:
    objects = list(json_objects(visible))
    found: list[Word] = []
    for item in objects:
        read = _of_object(item, words, visible)
        if isinstance(read, Refer):
            return read
        found.append(read)
    markers = [_behind(match, visible) for match in _MARKER.finditer(visible)]
    closing = _ANSWER_LINE.search(visible)
    if closing and not visible[: closing.start()].rstrip(" *_`").endswith("?"):
        markers.append(closing.group(1))
    if not objects and not markers:
        return _read_prose(_FENCE.sub("", visible), words)
    for marker in markers:
        word = _marked(marker, words)
        if word is None:
            return _nothing(marker)
        found.append(word)
    last = _last_line(visible, words)
    return _one([*found, *([last] if last else [])], visible)


def _behind(match: re.Match[str], text: str) -> str:
    """What stands behind a marker: on its line, or on the next one where its own is blank."""
    here = match.group(1) or match.group(2) or ""
    if here.strip(_DRESS):
        return here
    below = [line for line in text[match.end() :].splitlines() if line.strip(_DRESS)]
    return below[0] if below else ""


def _marked(marker: str, words: Words) -> Word | None:
    """The verdict that stands behind a marker."""
    value = marker.strip(_DRESS)
    whole = meaning(value, words)
    if whole:
        return whole
    head = re.match(r"([^\W\d_]+)[*_`]*\s*(?:[.;(]|-\s|[–—])", value)
    word = meaning(head.group(1), words) if head else None
    if word and head and head.group(1).casefold() not in ("yes", "no", "nope"):
        return word  # "include. No exclusion criterion applies": the marker says what it says
    return _leading_word(value, words)


def after_reasoning(text: str) -> str | Refer:
    """What follows the last closing reasoning tag; a block that never closes, or nothing after it, cannot be read."""
    ends = list(_REASONING_END.finditer(text))
    if ends:
        tail = text[ends[-1].end() :]
        return tail if tail.strip() else Refer(code=ReferCode.EMPTY, detail="nothing after the reasoning")
    if _REASONING_START.search(text):
        return Refer(code=ReferCode.UNPARSED, detail="the reasoning block never closes")
    return text


class _Twice(ValueError):
    """A key stands twice in a JSON object, with different values."""


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found and found[key] != value:
            found[key] = _Twice(key)
        else:
            found[key] = value
    return found


def _whole(digits: str) -> int | str:
    """A whole number; one that no float can hold stays a text, so that it spoils its own field alone."""
    return int(digits) if len(digits) < LONGEST_NUMBER else digits


def json_objects(text: str) -> Iterator[dict[str, Any]]:
    """Every JSON object that stands in the text, outermost ones only and none inside a list, in order."""
    decoder = json.JSONDecoder(object_pairs_hook=_pairs, parse_int=_whole)
    position = text.find("{")
    while position != -1:
        try:
            value, end = decoder.raw_decode(text, position)
        except (ValueError, RecursionError):
            end = position + 1
        else:
            if isinstance(value, dict) and not text[:position].rstrip().endswith(("[", ",")):
                yield value
        position = text.find("{", end)


def strict_json(text: str) -> Any:
    """The text as one JSON value, or None where it is not one (or is null)."""
    try:
        return json.loads(text, object_pairs_hook=_pairs, parse_int=_whole)
    except (ValueError, RecursionError):
        return None


def _of_object(found: dict[str, Any], words: Words, text: str) -> Word | Refer:
    """The decision of an object; a decision key whose value cannot be read decides nothing, whatever the others say."""
    read: list[Word] = []
    for key, value in found.items():
        name = str(key).strip().casefold()
        if name not in DECISION_KEYS:
            continue
        if isinstance(value, _Twice):
            return Refer(code=ReferCode.CONFLICT, detail=f"the key '{name}' stands twice with different values")
        word = meaning(value, words)
        if name in BOOLEAN_KEYS and isinstance(value, bool):
            word = "include" if value else "exclude"
        if word is None:
            return _nothing(text)
        read.append(word)
    return _one(read, text)


def _nothing(text: str) -> Refer:
    return Refer(code=ReferCode.UNPARSED, detail=f"no decision in {text.strip()[:120]!r}")


def _one(found: list[Word], text: str) -> Word | Refer:
    if not found:
        return _nothing(text)
    if len(set(found)) > 1:
        return Refer(code=ReferCode.CONFLICT, detail=f"says {' and '.join(dict.fromkeys(found))}")
    return found[0]


def _read_prose(text: str, words: Words) -> Word | Refer:
    first, last = _leading_word(text, words), _last_line(text, words)
    return _one([word for word in (first, last) if word], text)


def _last_line(text: str, words: Words) -> Word | None:
    """The verdict word that stands alone on the last line, unless the line above asks for something else."""
    lines = [line.strip() for line in _FENCE.sub("", text).splitlines() if line.strip(_DRESS)]
    if len(lines) < 2:
        return None
    word = meaning(lines[-1].strip(_DRESS), words)
    above = lines[-2].rstrip("*_` ")
    if word and above.endswith(("?", ":")) and not _asks_to_include(above):
        return None
    return word


def _asks_to_include(question: str) -> bool:
    return bool(_INCLUDING.search(question)) and not _EXCLUDING.search(question) and not _NEGATION.search(question)


def _leading_word(text: str, words: Words) -> Word | None:
    """The verdict word that opens the prose, where it stands for itself and nothing after it could turn it round."""
    body = text.strip().lstrip(_DRESS)
    question = re.match(r"^[^.!\n?]{0,80}\?", body)  # a model that repeats the question first
    if question:
        if not _asks_to_include(question.group(0)):
            return None
        body = body[question.end() :].strip().lstrip(_DRESS)
    whole = meaning(body.strip(_DRESS), words)
    if whole:
        return whole if ":" not in body.strip(" \t\r\n*_`") else None
    head = _HEAD.match(body)
    if head is None or head.group(1).casefold() not in ENGLISH:
        return None
    word = words.get(head.group(1).casefold())
    rest = head.group(2).lstrip("*_`\"'”’")
    if word is None or not re.match(r"^\s*([.,;!\n—–]|-\s|$)", rest):
        return None
    return None if _turned_round(word, rest) else word


def _turned_round(word: Word, rest: str) -> bool:
    """Whether what follows could mean the opposite; when in doubt it could."""
    negated = bool(_NEGATION.search(rest))
    speaks = bool(_INCLUDING.search(rest) or _EXCLUDING.search(rest) or re.search("criteri", rest, re.IGNORECASE))
    if word == "include":
        return bool(_EXCLUDING.search(rest)) or (speaks and negated)
    if word == "exclude":
        loose = not rest.lstrip().startswith((".", "!", "\n"))
        return bool(_INCLUDING.search(rest)) or (speaks and negated) or (loose and negated)
    return False
