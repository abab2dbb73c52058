"""Read an answer strictly: a verdict is found, or the reason why not. Nothing falls through to a label.

The order of trust: the finish reason; strict JSON; JSON or a marker after the reasoning block; a lone verdict
word at the head (or on the last line) of the prose. Two different verdicts are a conflict, never a choice.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

from litcascade.schemas import Refer, ReferCode, Reply
from litcascade.stages.words import BOOLEAN_KEYS, DECISION_KEYS, MEANING, Word, meaning

_FENCE = re.compile(r"```[a-zA-Z]*\n?|```")
_MARKER = re.compile(
    r"<decision>\s*([\w/'’-]+)\s*</decision>"
    r"|(?:^|\n)[\s>#*_-]*(?:final\s+)?(?:decision|verdict|answer|conclusion)[\s*_]*[:=][\s*_\"'`]*([\w/’-]+)[\s*_\"'`.!]*(?=\n|$)",
    re.IGNORECASE,
)
_DRESS = " \t\r\n*_`#>\"'“”‘’«»()[]-–—•:.!"
_HEAD = re.compile(r"^([^\W\d_]+(?:[/’'-][^\W\d_]+)*)(.*)$", re.DOTALL)
_EXCLUDING = re.compile(r"\bexclud\w*|\bineligible\b|\birrelevant\b", re.IGNORECASE)
_INCLUDING = re.compile(r"\binclude[ds]?\b|\bincluding it\b|\beligible\b", re.IGNORECASE)
_NEGATED = re.compile(
    r"\b(?:not|never|cannot|no|without|hardly)\b\W+(?:\w+\W+){0,4}?(includ\w*|exclud\w*|eligible)|n[’']t\W+(?:\w+\W+){0,4}?(includ\w*|exclud\w*|eligible)",
    re.IGNORECASE,
)


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
    if reply.finish_reason == "content_filter":
        return Refer(code=ReferCode.REJECTED, detail="the engine's content filter stopped the answer")
    return None


def read_word(reply: Reply) -> Word | Refer:
    """Read include, exclude or unclear from a reply, or say why a person must look."""
    problem = unusable(reply)
    if problem:
        return problem
    text = reply.text or ""
    alone = meaning(text)
    if alone:
        return alone
    whole = _strict_json(text)
    if isinstance(whole, dict):
        return _one(_words_of(whole), text)
    visible = after_reasoning(text)
    if isinstance(visible, Refer):
        return visible
    marked = [word for found in json_objects(visible) for word in _words_of(found)]
    marked += [MEANING.get(token.casefold(), "unclear") for token in _markers(visible)]
    if marked:
        return _one(marked, visible)
    return _read_prose(_FENCE.sub("", visible))


def after_reasoning(text: str) -> str | Refer:
    """What follows the last closing think tag; an opened block that never closes cannot be read."""
    head, tag, tail = text.rpartition("</think>")
    if tag:
        return tail
    if re.search(r"<think>", head or tail, re.IGNORECASE):
        return Refer(code=ReferCode.UNPARSED, detail="the reasoning block never closes")
    return text


def json_objects(text: str) -> Iterator[dict[str, Any]]:
    """Every JSON object that stands in the text, outermost ones only, in order."""
    decoder = json.JSONDecoder()
    position = text.find("{")
    while position != -1:
        try:
            value, end = decoder.raw_decode(text, position)
        except (json.JSONDecodeError, RecursionError):
            end = position + 1
        else:
            if isinstance(value, dict):
                yield value
        position = text.find("{", end)


def _strict_json(text: str) -> Any:
    try:
        return json.loads(text)
    except (json.JSONDecodeError, RecursionError):
        return None


def _words_of(found: dict[str, Any]) -> list[Word]:
    words: list[Word] = []
    for key, value in found.items():
        name = str(key).strip().casefold()
        if name in BOOLEAN_KEYS and isinstance(value, bool):
            words.append("include" if value else "exclude")
        elif name in DECISION_KEYS and (word := meaning(value)):
            words.append(word)
    return words


def _markers(text: str) -> list[str]:
    return [first or second for first, second in _MARKER.findall(text)]


def _one(words: list[Word], text: str) -> Word | Refer:
    if not words:
        return Refer(code=ReferCode.UNPARSED, detail=f"no decision in {text.strip()[:120]!r}")
    if len(set(words)) > 1:
        return Refer(code=ReferCode.CONFLICT, detail=f"says {' and '.join(dict.fromkeys(words))}")
    return words[0]


def _read_prose(text: str) -> Word | Refer:
    lines = [line for line in (line.strip(_DRESS) for line in text.splitlines()) if line]
    first = _leading_word(text)
    last = meaning(lines[-1]) if lines else None
    found = [word for word in (first, last) if word]
    return _one(found, text)


def _leading_word(text: str) -> Word | None:
    """The verdict word that opens the prose, where it stands for itself and nothing after it speaks against it."""
    body = text.strip().lstrip(_DRESS)
    question = re.match(r"^[^.!\n]{0,80}\?", body)  # a model that repeats the question first
    if question:
        body = body[question.end() :].strip().lstrip(_DRESS)
    whole = meaning(body.strip(_DRESS))
    if whole:
        return whole
    head = _HEAD.match(body)
    word = MEANING.get(head.group(1).casefold()) if head else None
    if head is None or word is None:
        return None
    rest = head.group(2).lstrip("*_`\"'”’")
    if not re.match(r"^\s*([.,;:!\n—–。，]|-\s|$)", rest):
        return None
    return None if _contradicted(word, rest) else word


def _contradicted(word: Word, rest: str) -> bool:
    negated = [(a or b).casefold() for a, b in _NEGATED.findall(rest)]
    plain = _NEGATED.sub(" ", rest)
    says_exclude = bool(_EXCLUDING.search(plain)) or any(not verb.startswith("exclu") for verb in negated)
    says_include = bool(_INCLUDING.search(plain)) or any(verb.startswith("exclu") for verb in negated)
    return says_exclude if word == "include" else says_include if word == "exclude" else False
