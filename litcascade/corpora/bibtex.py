"""BibTeX and BibLaTeX: every entry by its place in the file, a broken one costs no other."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from litcascade.corpora.build import build, read_year
from litcascade.corpora.found_labels import label_in_columns
from litcascade.corpora.latex import plain, plain_link
from litcascade.corpora.readers import READERS
from litcascade.corpora.receipt import Item, Repair, SetAside
from litcascade.corpora.source import Source
from litcascade.corpora.splitting import split_at
from litcascade.schemas import Record

_OPENS = r"@[ \t]*([A-Za-z][\w.:+-]*)[ \t]*(?:(\{)|(\()(?=\s*[^\s,(){}\"=]+\s*,\s*[\w-]+\s*=))"
_START = re.compile(rf"^[ \t]*{_OPENS}|^[ \t]*@[ \t]*(string|preamble|comment)[ \t]*(\()", re.MULTILINE | re.IGNORECASE)
_BEHIND = re.compile(rf"[\s,;]*{_OPENS}")
_INSIDE = re.compile(r"\}\s*(?=@[ \t]*[A-Za-z]\w*[ \t]*\{[^\s{},=]*,)")
_NAME = re.compile(r"([A-Za-z_][^=,{}#\"\n]*+)\s*+=")
_KEY = re.compile(r"\s*+([^,{}\n]*+)\s*+(?:,|(?=[})]))")
_GAP, _BETWEEN = re.compile(r"\s*"), re.compile(r"(?:\s|,|%[^\r\n]*)*")
_BARE = re.compile(r"[^\s,{}#\"=)]+")
_TOKENS = (re.compile(r"\\.|[{}()\"]", re.DOTALL), re.compile(r"[{}()\"]"))  # an escaped brace is none; if that fails, it is
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_LINKS = ("url", "doi", "file", "eprint")
CARET = "\\textasciicircum{}"


@dataclass
class _Entry:
    line: int
    kind: str
    key: str
    fields: dict[str, list[str]] = field(default_factory=dict)


class _BrokenError(Exception):
    """Why an entry cannot be read."""


@READERS.register("bibtex")
def read_bibtex(source: Source) -> Iterator[Item]:
    """Read BibTeX; as many records and entries set aside as the file has starts `@type{`."""
    position = 0
    macros: dict[str, str] = {}
    for line, text in split_at(source.pieces(), _START, source.name):
        for item in _Segment(text, line, macros).entries():
            if isinstance(item, _Entry):
                position += 1
                yield _record(item, position)
            else:
                yield item


def _record(entry: _Entry, position: int) -> Record:
    def first(*names: str) -> str | None:
        values = (value for name in names for value in entry.fields.get(name, []))
        return next((plain(value.replace(CARET, "^")) for value in values if value.strip()), None)

    def link(name: str) -> str | None:
        return next((plain_link(value) for value in entry.fields.get(name, []) if value.strip()), None)

    dates = [first(name) for name in ("year", "date", "earlyaccessdate", "early-access-date", "issued")]
    pubmed = (first("eprinttype", "archiveprefix") or "").casefold() in ("pubmed", "pmid")
    fields = {
        "title": ": ".join(part for part in (first("title"), first("subtitle")) if part) or first("booktitle"),
        "abstract": first("abstract"),
        "year": next((date for date in dates if read_year(date)), None) or next((date for date in dates if date), None),
        "journal": first("journal", "journaltitle", "booktitle"),
        "volume": first("volume"),
        "issue": first("number", "issue"),
        "pages": first("pages"),
        "doi": link("doi"),
        "pmcid": first("pmcid", "pmc"),
        "pmid": first("pmid") or (first("eprint") if pubmed else None),
        "url": first("litcascade_url") or link("url"),
        "kind": first("litcascade_kind") or entry.kind,
    }
    names = [name for value in entry.fields.get("author", [])[:1] for name in _split_names(value)]
    source = {"entry_type": entry.kind, "citation_key": entry.key, **entry.fields}
    authors = [plain(name.replace(CARET, "^")) for name in names if name.strip() != "others"]
    return build(first("litcascade_id") or entry.key, fields, authors, position, source, label_in_columns(_singles(entry)))


def _singles(entry: _Entry) -> dict[str, str]:
    """Fields with one value, for labels that screening tools leave in them."""
    return {name: values[0] for name, values in entry.fields.items()}


def _split_names(value: str) -> list[str]:
    """Names parted by `and` outside braces."""
    names, depth, begin = [], 0, 0
    for match in re.finditer(r"\\.|[{}]|(?<!\s)\s++and(?=\s)", value, re.IGNORECASE | re.DOTALL):
        if match.group() in ("{", "}"):
            depth += 1 if match.group() == "{" else -1
        elif depth <= 0 and not match.group().startswith("\\"):
            names.append(value[begin : match.start()])
            begin = match.end()
    return [*names, value[begin:]]


class _Segment:
    """The text from one start at the head of a line to the next: entries out, all else set aside."""

    def __init__(self, text: str, line: int, macros: dict[str, str]) -> None:
        self.text, self.line, self.macros = text, line, macros

    def entries(self) -> Iterator[_Entry | Item]:
        """Entries in order; the segment ends where the next one begins, so that a broken one ends there."""
        place = _START.match(self.text)
        end, broken = 0, False
        while place:
            limit = self._inner(place) if broken else len(self.text)
            items, end = self._entry(place, limit)
            yield from items
            broken = broken or not any(isinstance(item, _Entry) for item in items)
            place = _BEHIND.match(self.text, end)
        yield from self._aside(end, len(self.text), "stands outside any entry")

    def _inner(self, start: re.Match[str]) -> int:
        """Where the next entry seems to open on the same line."""
        inside = _INSIDE.search(self.text, start.end())
        return inside.end() if inside else len(self.text)

    def _line(self, position: int) -> int:
        return self.line + self.text.count("\n", 0, position)

    def _aside(self, begin: int, end: int, reason: str, *, is_record: bool = False) -> list[Item]:
        raw = self.text[begin:end]
        if not raw.strip().strip(","):
            return []
        return [SetAside(self._line(begin + len(raw) - len(raw.lstrip())), reason, raw.strip(), is_record)]

    def _entry(self, start: re.Match[str], limit: int) -> tuple[list[_Entry | Item], int]:
        """What opens there (an entry with its notes; nothing for what is no record; else it is set aside), and where it ends."""
        kind = next(group for group in start.groups() if group).casefold()
        at = self.text.index("@", start.start())
        is_record = kind not in ("string", "preamble", "comment")
        fault = ""
        for tokens in _TOKENS:
            scan = _Scan(self, limit, tokens, "}" if self.text[start.end() - 1] == "{" else ")")
            try:
                if kind in ("preamble", "comment"):
                    return [], scan.closed(start.end(), scan.closer)
                key, fields, end = scan.body(start.end(), with_key=is_record)
            except _BrokenError as error:
                fault = fault or str(error)
                continue
            if kind == "string":
                self.macros.update({name: values[0] for name, values in fields.items()})
                return [], end
            notes: list[_Entry | Item] = [Repair(f"line {self._line(at)}: {note}") for note in scan.notes]
            return [*notes, _Entry(self._line(at), kind, key, fields)], end
        end = self._inner(start)
        return [*self._aside(at, end, fault, is_record=is_record)], end


class _Scan:
    """Reads one entry, never beyond its border."""

    def __init__(self, segment: _Segment, border: int, tokens: re.Pattern[str], closer: str) -> None:
        self.text, self.macros, self.border, self.tokens, self.closer = segment.text, segment.macros, border, tokens, closer
        self.notes: list[str] = []

    def _peek(self, position: int) -> str:
        return self.text[position] if position < self.border else ""

    def _skip(self, pattern: re.Pattern[str], position: int) -> int:
        match = pattern.match(self.text, position, self.border)
        return match.end() if match else position

    def closed(self, position: int, closer: str) -> int:
        """Where the brace, parenthesis or quotation mark that was opened before `position` is closed."""
        depth = 0
        for match in self.tokens.finditer(self.text, position, self.border):
            token = match.group()
            if token == closer and depth <= 0:
                return match.end()
            depth += 1 if token == "{" else -1 if token == "}" else 0
        raise _BrokenError("a quotation mark is never closed" if closer == '"' else "a brace is never closed")

    def body(self, position: int, *, with_key: bool) -> tuple[str, dict[str, list[str]], int]:
        """(Citation key, fields in order, end)."""
        key, fields = "", dict[str, list[str]]()
        if with_key and not _NAME.match(self.text, self._skip(_GAP, position), self.border):
            match = _KEY.match(self.text, position, self.border)
            if not match:
                raise _BrokenError("its citation key cannot be told")
            key, position = match.group(1).strip(), match.end()
        while True:
            position = self._skip(_BETWEEN, position)
            if self._peek(position) == self.closer:
                return key, fields, position + 1
            match = _NAME.match(self.text, position, self.border)
            if not match:
                raise _BrokenError("its last brace is missing" if position >= self.border else "a field has no name or no '='")
            name = match.group(1).strip().casefold()
            value, position = self._value(match.end(), name)
            fields.setdefault(name, []).append(value)

    def _value(self, position: int, name: str) -> tuple[str, int]:
        """A value: pieces in braces or quotes, numbers, macros, joined by `#`; nothing at all is an empty one."""
        pieces: list[str] = []
        while True:
            position = self._skip(_GAP, position)
            opener = self._peek(position)
            if opener in ("{", '"') and opener:
                end = self.closed(position + 1, "}" if opener == "{" else '"')
                pieces.append(self.text[position + 1 : end - 1])
            elif match := _BARE.match(self.text, position, self.border):
                end = match.end()
                pieces.append(self._macro(match.group(), name))
            elif opener in (",", self.closer) and opener and not pieces:
                return "", position
            else:
                raise _BrokenError(f"the field '{name}' has no value that can be read")
            position = self._skip(_GAP, end)
            if self._peek(position) != "#":
                return "".join(pieces), position
            position += 1

    def _macro(self, word: str, name: str) -> str:
        known = word.casefold() in self.macros or word[:3].casefold() in _MONTHS or not word[0].isalpha()
        if not known:
            self.notes.append(f"the macro '{word}' in '{name}' is not defined; its name was kept")
        return self.macros.get(word.casefold(), word)
