"""What a reply of GROBID means: a text, a fault of the document, or a reason to ask again."""

import html
import json
import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from lxml import etree

from litcascade.schemas import DocumentState

TEI = "{http://www.tei-c.org/ns/1.0}"


class FaultKind(StrEnum):
    """Why there is no text. All but the last are final for this server; the last leaves the document to the next run."""

    BROKEN = "broken"
    EMPTY = "empty"
    SCANNED = "scanned"
    TOO_LONG = "too long"
    TIMEOUT = "timeout"
    FAILED = "parser failed"
    WAITING = "not parsed yet"


_STATES = {
    FaultKind.BROKEN: DocumentState.BROKEN,
    FaultKind.EMPTY: DocumentState.EMPTY,
    FaultKind.SCANNED: DocumentState.SCANNED,
    FaultKind.TOO_LONG: DocumentState.TOO_LONG,
    FaultKind.TIMEOUT: DocumentState.BROKEN,
    FaultKind.FAILED: DocumentState.BROKEN,
}


@dataclass(frozen=True)
class Fault:
    """Why a PDF has no text: what kind, in words, with GROBID's own code where it gave one.

    `stop` says that the server cannot be asked for any other PDF either; `version` is that of the server that was asked.
    """

    kind: FaultKind
    why: str
    code: str | None = None
    stop: bool = False
    version: str | None = None

    @property
    def state(self) -> DocumentState | None:
        """The state of the document; None while it is not parsed yet."""
        return _STATES.get(self.kind)


@dataclass(frozen=True)
class Reply:
    """What came back over HTTP; `retry_after` in seconds."""

    status: int
    content_type: str
    body: bytes
    retry_after: float | None = None


Cause = Literal["busy", "lost", "cut", "timeout", "failed"]


@dataclass(frozen=True)
class Again:
    """A reply, or the lack of one, that says nothing final of the document; `asked`: seconds the server wants to be left."""

    cause: Cause
    why: str
    asked: float | None = None
    code: str | None = None


@dataclass(frozen=True)
class TeiFault:
    """What keeps a file from being a TEI text; `cut` where its end is missing, as after a broken transfer."""

    why: str
    cut: bool = False


_ANSWERS = {
    "BAD_INPUT_DATA": FaultKind.BROKEN,
    "PARSING_ERROR": FaultKind.BROKEN,
    "PDFALTO_CONVERSION_FAILURE": FaultKind.BROKEN,
    "NO_BLOCKS": FaultKind.SCANNED,
    "TOO_MANY_BLOCKS": FaultKind.TOO_LONG,
    "TOO_MANY_TOKENS": FaultKind.TOO_LONG,
}
_CODE = re.compile(rf"\b({'|'.join([*_ANSWERS, 'TIMEOUT', 'TAGGING_ERROR', 'GENERAL'])})\b")
_NO_PDFALTO = re.compile(r"cannot (?:find|be executed)", re.IGNORECASE)
_WEB_PAGE = re.compile(rb"\s*(?:\xef\xbb\xbf)?\s*<(?:!doctype\s+html|html)[\s>]", re.IGNORECASE)


def tei_fault(raw: bytes, md5: str | None = None) -> TeiFault | None:
    """None for a whole TEI text: well-formed to its closing tag, with the root TEI, of the PDF with that MD5 if it names one."""
    if not raw.strip():
        return TeiFault("nothing came", cut=True)
    if _WEB_PAGE.match(raw[:1000]):
        return TeiFault("a web page, not TEI", cut=True)
    try:
        root = etree.fromstring(raw, etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False))
    except (etree.XMLSyntaxError, ValueError) as error:
        cut = b"TEI>" not in raw[-200:]
        return TeiFault(f"TEI that ends early ({error})" if cut else f"GROBID wrote XML that is not well-formed ({error})", cut)
    if root.tag != f"{TEI}TEI":
        return TeiFault(f"XML with the root {etree.QName(root).localname}, not TEI", cut=True)
    named = next((node.text for node in root.iter(f"{TEI}idno") if node.get("type") == "MD5"), None)
    if md5 and named and named.strip().lower() != md5.lower():
        return TeiFault("the TEI of another PDF (its MD5 differs)", cut=True)
    return None


def judge(reply: Reply, md5: str | None = None) -> bytes | Fault | Again:
    """The text of a reply, or what its lack means; `md5` of the PDF that was sent."""
    if reply.status == 200:
        return _text(reply, md5)
    if reply.status == 204:
        return Fault(FaultKind.EMPTY, "GROBID found no content in the PDF")
    if reply.status in (503, 429):
        return Again("busy", f"the server is busy (HTTP {reply.status})", reply.retry_after)
    if reply.status in (502, 504):
        return Again("lost", f"no answer from behind the proxy (HTTP {reply.status})", reply.retry_after)
    if reply.status in (401, 403, 404, 405):
        return Fault(FaultKind.WAITING, f"the server refuses to be asked (HTTP {reply.status})", stop=True)
    return _refusal(reply)


def _text(reply: Reply, md5: str | None) -> bytes | Again:
    kind = reply.content_type.partition(";")[0].strip().lower()
    fault = tei_fault(reply.body, md5)
    if fault:
        return Again("cut" if fault.cut else "failed", f"the server sent {fault.why}" if fault.cut else fault.why)
    if not kind.endswith(("/xml", "+xml")):
        return Again("cut", f"the server sent TEI as {kind or 'no content type'}")
    return reply.body


def _refusal(reply: Reply) -> Fault | Again:
    """An error with one of GROBID's codes, in plain text, JSON or XML."""
    said = message(reply.body)
    found = _CODE.search(said)
    code = found.group() if found else None
    why = f"GROBID: {said[:300]}" if said else f"GROBID answered HTTP {reply.status} without a reason"
    if code == "TIMEOUT" or reply.status == 408:
        return Again("timeout", why, code=code)
    if code == "PDFALTO_CONVERSION_FAILURE" and _NO_PDFALTO.search(said):
        return Fault(FaultKind.FAILED, why, code)
    if code in _ANSWERS:
        return Fault(_ANSWERS[code], why, code)
    if reply.status == 413:
        return Fault(FaultKind.FAILED, "the server takes no file of that size (HTTP 413)")
    if reply.status < 500:
        return Fault(FaultKind.FAILED, f"{why} (HTTP {reply.status})", code)
    return Again("failed", why, code=code)


def message(body: bytes) -> str:
    """The words of an error body, whatever it is written in."""
    text = body[:20_000].decode("utf-8", errors="replace")
    try:
        told = json.loads(text)
    except ValueError:
        told = None
    if isinstance(told, dict):
        parts = [told.get("grobidExceptionStatus"), told.get("description") or told.get("message")]
        text = " ".join(str(part) for part in parts if part) or text
    text = html.unescape(re.sub(r"<(style|script|head)\b.*?</\1>|<[^>]*>", " ", text, flags=re.DOTALL | re.IGNORECASE))
    return " ".join(text.split())
