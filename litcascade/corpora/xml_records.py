"""Records out of XML exports: the whole file, or record by record where the file is damaged."""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator

from lxml import etree

from litcascade.corpora.receipt import Parsed, SetAside
from litcascade.corpora.texts import Body
from litcascade.corpora.xml_texts import flat, loose, parse_xml

_PROLOGUE = re.compile(r"\s*<\?xml[^>]*\?>")
_CONTROLS = r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]"
_ILLEGAL = re.compile(_CONTROLS + r"|&#(?:0*(?:[0-8]|11|12|1[4-9]|2\d|30|31)|[xX]0*(?:[0-8bBcCeEfF]|1[0-9a-fA-F]));")


def xml_entries(text: str, names: tuple[str, ...], parsed: Parsed) -> list[etree._Element]:
    """The elements of those names in order; what stands outside them, and entries that cannot be parsed, are set aside."""
    text, removed = _ILLEGAL.subn("", text.replace("\ufeff", ""))
    if removed:
        parsed.repairs.append(f"{removed} control character(s) that XML forbids were left out")
    match = _PROLOGUE.match(text)
    start = match.end() if match else 0
    lines = "\n" * text.count("\n", 0, start)  # the text is decoded: what the prologue says of its encoding is past
    root = parse_xml((lines + text[start:]).encode()) if text.strip() else Body(note="the text is empty")
    if isinstance(root, Body):
        return list(_one_by_one(text, names, str(root.note), parsed))
    if root.tag not in names:
        _outside(root, names, parsed)
    return [node for node in root.iter(*names) if isinstance(node, etree._Element)]


def line_of(element: etree._Element) -> int:
    """The line of the element's start tag."""
    return int(getattr(element, "sourceline", None) or 1)


def _outside(node: etree._Element, names: tuple[str, ...], parsed: Parsed) -> None:
    for child, words in loose(node, frozenset(names)):
        if child is not None and next(iter(child.iter(*names)), None) is not None:
            _outside(child, names, parsed)
        elif found := words or flat(child):
            parsed.set_aside.append(SetAside(line_of(node if child is None else child), "stands outside any record", found))


def _one_by_one(text: str, names: tuple[str, ...], fault: str, parsed: Parsed) -> Iterator[etree._Element]:
    """Each entry from its start tag on, for itself: one that is broken costs no other."""
    starts = list(re.finditer(rf"<({'|'.join(names)})(?=[\s>/])", text))
    if starts:
        parsed.repairs.append(f"{fault}; each record was read for itself")
    borders = [*(match.start() for match in starts), len(text)]
    ends = [match.start() for match in re.finditer("\n", text)]
    _leftover(text, 0, borders[0], ends, parsed)
    for match, border in zip(starts, borders[1:], strict=True):
        closing = f"</{match.group(1)}>"
        found = text.find(closing, match.start(), border)
        end = found + len(closing) if found >= 0 else border
        raw = text[match.start() : end]
        entry = parse_xml(raw.encode())
        if isinstance(entry, Body):
            parsed.set_aside.append(SetAside(bisect_left(ends, match.start()) + 1, str(entry.note), raw, is_record=True))
        else:
            yield entry
        _leftover(text, end, border, ends, parsed)


def _leftover(text: str, start: int, end: int, ends: list[int], parsed: Parsed) -> None:
    piece = text[start:end]
    if re.sub(r"<[^<>]*>", "", piece).strip():
        parsed.set_aside.append(
            SetAside(bisect_left(ends, start + len(piece) - len(piece.lstrip())) + 1, "stands outside any record", piece.strip())
        )


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
