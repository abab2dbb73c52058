"""Records out of XML exports: one after the other, or each for itself where the file is damaged."""

import re
from collections.abc import Callable, Iterator
from typing import Any

from lxml import etree

from litcascade.corpora.receipt import Item, Repair, SetAside
from litcascade.corpora.source import Source
from litcascade.corpora.splitting import split_at
from litcascade.corpora.texts.base import Body
from litcascade.corpora.texts.xml import flat, loose, parse_xml

_PROLOGUE = re.compile(r"\s*<\?xml[^>]*\?>")
_CONTROLS = r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]"
_ILLEGAL = re.compile(_CONTROLS + r"|&#(?:0*(?:[0-8]|11|12|1[4-9]|2\d|30|31)|[xX]0*(?:[0-8bBcCeEfF]|1[0-9a-fA-F]));")
_ENTITY_LENGTH = 40


def xml_entries(source: Source, names: tuple[str, ...]) -> Iterator[etree._Element | Item]:
    """The elements of those names in order; what stands outside them, and entries that cannot be parsed, are set aside.

    An element is emptied once the next one is asked for, so that memory does not grow with the file.
    """
    removed = [0]
    fault = _fault(_clean(source, removed))
    if removed[0]:
        yield Repair(f"{removed[0]} control character(s) that XML forbids were left out")
    if fault:
        yield from _one_by_one(source, names, fault)
    else:
        yield from _in_order(source, names)


def line_of(element: etree._Element) -> int:
    """The line of the element's start tag."""
    return int(getattr(element, "sourceline", None) or 1)


def _clean(source: Source, removed: list[int]) -> Iterator[str]:
    """The text without its prologue (the text is decoded: what that says of its encoding is past) and forbidden characters."""
    held, at_start = "", True
    for piece in source.pieces():
        text = held + piece
        cut = text.rfind("&", max(0, len(text) - _ENTITY_LENGTH))
        text, held = (text, "") if cut < 0 else (text[:cut], text[cut:])
        if at_start and (match := _PROLOGUE.match(text)):
            text = "\n" * text.count("\n", 0, match.end()) + text[match.end() :]
        at_start = at_start and not text
        clean, count = _ILLEGAL.subn("", text)
        removed[0] += count
        yield clean
    clean, count = _ILLEGAL.subn("", held)
    removed[0] += count
    yield clean


class _Nothing:
    """A parser's target that keeps nothing: for telling whether a file is well-formed."""

    def close(self) -> None:
        """Nothing was kept."""


def _fault(pieces: Iterator[str]) -> str | None:
    """What is wrong with the file, or None where it is well-formed."""
    target: Any = _Nothing()
    parser = etree.XMLParser(target=target, resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
    fed = False
    try:
        for piece in pieces:
            fed = fed or bool(piece.strip())
            parser.feed(piece.encode())
        if fed:
            parser.close()
    except (etree.XMLSyntaxError, ValueError) as error:
        return f"not well-formed XML: {str(error)[:160]}"
    return None if fed else "the text is empty"


def _in_order(source: Source, names: tuple[str, ...]) -> Iterator[etree._Element | Item]:
    parser: Any = etree.XMLPullParser(
        events=("end",), tag=names, resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False,
        remove_comments=True, remove_pis=True,
    )  # fmt: skip
    for piece in _clean(source, [0]):
        parser.feed(piece.encode())
        for _, found in parser.read_events():
            if _inside(found, names):
                raw = etree.tostring(found, encoding="unicode", with_tail=False)
                yield SetAside(line_of(found), "a record inside another one, with which its words are kept", raw, is_record=True)
                continue
            yield found
            found.clear(keep_tail=True)
    root = parser.close()
    if root.tag not in names:
        yield from _outside(root, names)


def _inside(element: etree._Element, names: tuple[str, ...]) -> bool:
    return next(element.iterancestors(*names), None) is not None


def _outside(node: etree._Element, names: tuple[str, ...]) -> Iterator[SetAside]:
    for child, words in loose(node, frozenset(names)):
        if child is not None and next(iter(child.iter(*names)), None) is not None:
            yield from _outside(child, names)
        elif found := words or flat(child):
            yield SetAside(line_of(node if child is None else child), "stands outside any record", found)


def _one_by_one(source: Source, names: tuple[str, ...], fault: str) -> Iterator[etree._Element | Item]:
    """Each entry from its start tag on, for itself: one that is broken costs no other."""
    start = re.compile(rf"<({'|'.join(names)})(?=[\s>/])")
    told = False
    for line, text in split_at(_clean(source, [0]), start, source.name):
        match = start.match(text)
        if match is None:
            yield from _leftover(line, text)
            continue
        if not told:
            yield Repair(f"{fault}; each record was read for itself")
            told = True
        closing = f"</{match.group(1)}>"
        found = text.find(closing)
        end = found + len(closing) if found >= 0 else len(text)
        entry = parse_xml(("\n" * min(line - 1, 60_000) + text[:end]).encode())
        if isinstance(entry, Body):
            yield SetAside(line, str(entry.note), text[:end], is_record=True)
        else:
            yield entry
        yield from _leftover(line + text.count("\n", 0, end), text[end:])


def _leftover(line: int, piece: str) -> Iterator[SetAside]:
    if re.sub(r"<[^<>]*>", "", piece).strip():
        yield SetAside(line + piece.count("\n", 0, len(piece) - len(piece.lstrip())), "stands outside any record", piece.strip())


def raw_fields(entry: etree._Element, words: Callable[[etree._Element], str] = flat) -> dict[str, list[str]]:
    """Every text and attribute of an entry by its path; an element with text of its own is taken whole."""
    fields: dict[str, list[str]] = {}
    own = [text for child, text in loose(entry, frozenset()) if child is None]
    if own:
        fields["text outside fields"] = own
    _gather(entry, "", words, fields)
    return fields


def _gather(node: etree._Element, path: str, words: Callable[[etree._Element], str], fields: dict[str, list[str]]) -> None:
    for child in node:
        if not isinstance(child.tag, str):
            continue
        name = f"{path}/{child.tag}" if path else child.tag
        for key, value in child.attrib.items():
            fields.setdefault("@".join([name, str(key)]), []).append(str(value))
        if not _whole(child):
            _gather(child, name, words, fields)
        elif text := words(child):
            fields.setdefault(name, []).append(text)


def _whole(node: etree._Element) -> bool:
    own = [node.text, *(child.tail for child in node)]
    plain = any(text and text.strip() for text in own)
    return plain or len(node) == 0 or any(not isinstance(child.tag, str) or child.tag == "style" for child in node)
