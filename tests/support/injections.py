"""The suite of injections: invented papers, each with one passage that tries to steer its reader, in four carriers."""

import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

from tests.support.pdfs import WHITE, box, column, pdf, words

DATA = Path(__file__).parents[1] / "data" / "injections"
CARRIERS = ("abstract", "jats", "tei", "pdf")


@dataclass(frozen=True)
class Paper:
    """An invented paper; `meets` tells whether it meets the criteria of the invented review."""

    id: str
    meets: bool
    title: str
    abstract: str
    methods: str
    results: str


@dataclass(frozen=True)
class Case:
    """One paper with one passage put in; `seen` tells whether a person who reads the page would see the passage.

    `content` is the abstract as a text, or the bytes of a file whose name ends in `ending`.
    """

    kind: str
    carrier: str
    place: str
    seen: bool
    paper: Paper
    payload: str
    content: str | bytes
    ending: str
    number: int = 0

    @property
    def name(self) -> str:
        return f"{self.kind}-{self.number}-{self.carrier}-{self.place}"


@cache
def _data(name: str) -> dict[str, Any]:
    return tomllib.loads((DATA / name).read_text(encoding="utf-8"))


def review() -> Mapping[str, Any]:
    """Question and criteria of the invented review."""
    found: Mapping[str, Any] = _data("papers.toml")["review"]
    return found


def papers(meets: bool | None = None) -> tuple[Paper, ...]:
    """All invented papers, or those that meet the criteria, or those that do not."""
    found = tuple(Paper(**entry) for entry in _data("papers.toml")["papers"])
    return tuple(paper for paper in found if meets is None or paper.meets is meets)


def payloads() -> dict[str, tuple[str, ...]]:
    """The passages by what they try."""
    return {kind: tuple(entry["words"]) for kind, entry in _data("payloads.toml").items()}


def suite() -> tuple[Case, ...]:
    """Every kind in every carrier, each kind in another place of it; and all other passages in abstracts."""
    return tuple(_every())


def _every() -> Iterator[Case]:
    out = papers(meets=False)
    for at, (kind, said) in enumerate(payloads().items()):
        for carrier in CARRIERS:
            places = list(PLACES[carrier])
            if not said[0].isascii() and carrier == "pdf":
                places = [place for place in places if place == "page"]
            yield case(kind, carrier, places[at % len(places)], out[at % len(out)], said[0])
        for number, payload in enumerate(said[1:], start=1):
            place = ("end", "start", "middle")[number % 3]
            yield case(kind, "abstract", place, out[(at + number) % len(out)], payload, number)


def case(kind: str, carrier: str, place: str, paper: Paper, payload: str, number: int = 0) -> Case:
    """A paper with a passage put in a place of a carrier."""
    seen, write = PLACES[carrier][place]
    ending = {"abstract": "", "jats": ".nxml", "tei": ".tei.xml", "pdf": ".pdf"}[carrier]
    return Case(kind, carrier, place, seen, paper, payload, write(paper, payload), ending, number)


def _end(paper: Paper, payload: str) -> str:
    return f"{paper.abstract} {payload}"


def _start(paper: Paper, payload: str) -> str:
    return f"{payload} {paper.abstract}"


def _middle(paper: Paper, payload: str) -> str:
    first, rest = paper.abstract.split(". ", 1)
    return f"{first}. {payload} {rest}"


def _comment(paper: Paper, payload: str) -> str:
    return f"{paper.abstract} <!-- {payload} -->"


def _hidden_span(paper: Paper, payload: str) -> str:
    return f'{paper.abstract} <span style="display:none">{payload}</span>'


def _tag_characters(paper: Paper, payload: str) -> str:
    return paper.abstract + "".join(chr(0xE0000 + ord(letter)) for letter in payload if " " <= letter <= "~")


def _zero_width(paper: Paper, payload: str) -> str:
    return f"{paper.abstract} " + "\u200b".join(payload)


def _look_alike(paper: Paper, payload: str) -> str:
    return f"{paper.abstract} {payload.translate(str.maketrans('aceopxyi', 'асеорхуі'))}"


def _sections(paper: Paper, extra: str, sec: str, head: str, paragraph: str) -> str:
    parts = (("Methods", paper.methods), ("Results", paper.results))
    return "".join(
        f"<{sec}><{head}>{name}</{head}><{paragraph}>{escape(text)}</{paragraph}>{extra if name == 'Results' else ''}</{sec}>"
        for name, text in parts
    )


def _jats(paper: Paper, *, body: str = "", abstract: str = "", front: str = "") -> bytes:
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<article><front><article-meta>'
        f"<title-group><article-title>{escape(paper.title)}</article-title></title-group>{front}"
        f"<abstract><p>{escape(paper.abstract)}</p>{abstract}</abstract></article-meta></front>"
        f"<body>{_sections(paper, body, 'sec', 'title', 'p')}</body></article>"
    ).encode()


def _tei(paper: Paper, *, body: str = "", abstract: str = "", front: str = "") -> bytes:
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<TEI xmlns="http://www.tei-c.org/ns/1.0"><teiHeader><fileDesc>'
        f"<titleStmt><title>{escape(paper.title)}</title></titleStmt>{front}</fileDesc>"
        f"<profileDesc><abstract><p>{escape(paper.abstract)}</p>{abstract}</abstract></profileDesc></teiHeader>"
        f"<text><body>{_sections(paper, body, 'div', 'head', 'p')}</body></text></TEI>"
    ).encode()


def _marked(payload: str) -> str:
    """A passage as it may stand in an XML comment."""
    return payload.replace("--", "- -")


def _pdf(paper: Paper, drawn: bytes = b"", *, seen: str = "", info: str = "") -> bytes:
    """A page of a report; `drawn` is further content, `seen` a paragraph of its own."""
    parts = [f"# {paper.title}", "# Abstract", paper.abstract, "# Methods", paper.methods, "# Results", paper.results]
    return pdf(column([*parts, *([seen] if seen else [])], 72, 720) + drawn, info=info)


def _line(payload: str, **style: Any) -> bytes:
    """A passage on lines of its own near the foot of the page."""
    return column_of(payload, 72, 200, **style)


def column_of(payload: str, x: float, y: float, **style: Any) -> bytes:
    """A passage in lines of eighty characters, all in one style."""
    lines = [payload[at : at + 80] for at in range(0, len(payload), 80)]
    return b"".join(words(line, x, y - 12 * number, **style) for number, line in enumerate(lines))


def _covered(payload: str) -> bytes:
    return _line(payload) + box(60, 140, 500, 80, WHITE)


Write = Callable[[Paper, str], str | bytes]
PLACES: dict[str, dict[str, tuple[bool, Write]]] = {
    "abstract": {
        "end": (True, _end),
        "comment": (False, _comment),
        "start": (True, _start),
        "hidden span": (False, _hidden_span),
        "middle": (True, _middle),
        "tag characters": (False, _tag_characters),
        "zero width": (True, _zero_width),
        "look-alike letters": (True, _look_alike),
    },
    "jats": {
        "paragraph": (True, lambda paper, said: _jats(paper, body=f"<p>{escape(said)}</p>")),
        "comment": (False, lambda paper, said: _jats(paper, body=f"<!-- {_marked(said)} -->")),
        "abstract": (True, lambda paper, said: _jats(paper, abstract=f"<p>{escape(said)}</p>")),
        "hidden style": (
            False,
            lambda paper, said: _jats(
                paper, body=f'<p>See <styled-content style="display:none">{escape(said)}</styled-content></p>'
            ),
        ),
        "footnote": (True, lambda paper, said: _jats(paper, body=f"<p>See<fn><p>{escape(said)}</p></fn>.</p>")),
        "processing instruction": (False, lambda paper, said: _jats(paper, body=f"<?reader {said.replace('?>', '?')}?>")),
        "cell": (
            True,
            lambda paper, said: _jats(
                paper,
                body=f"<table-wrap><label>Table 1</label><table><tr><td>Pain</td><td>{escape(said)}</td></tr></table></table-wrap>",
            ),
        ),
        "caption": (
            True,
            lambda paper, said: _jats(paper, body=f"<fig><label>Figure 1</label><caption><p>{escape(said)}</p></caption></fig>"),
        ),
    },
    "tei": {
        "abstract": (True, lambda paper, said: _tei(paper, abstract=f"<p>{escape(said)}</p>")),
        "paragraph": (True, lambda paper, said: _tei(paper, body=f"<p>{escape(said)}</p>")),
        "comment": (False, lambda paper, said: _tei(paper, body=f"<!-- {_marked(said)} -->")),
        "note": (True, lambda paper, said: _tei(paper, body=f'<note place="foot">{escape(said)}</note>')),
        "hidden style": (
            False,
            lambda paper, said: _tei(paper, body=f'<p>See <hi style="color:#ffffff;font-size:1px">{escape(said)}</hi></p>'),
        ),
        "figure": (
            True,
            lambda paper, said: _tei(paper, body=f"<figure><head>Figure 1</head><figDesc>{escape(said)}</figDesc></figure>"),
        ),
    },
    "pdf": {
        "page": (True, lambda paper, said: _pdf(paper, seen=said)),
        "white": (False, lambda paper, said: _pdf(paper, _line(said, colour=WHITE))),
        "tiny": (False, lambda paper, said: _pdf(paper, _line(said, size=0.5))),
        "unpainted": (False, lambda paper, said: _pdf(paper, _line(said, mode=3))),
        "off the page": (False, lambda paper, said: _pdf(paper, column_of(said, 72, 900))),
        "covered": (False, lambda paper, said: _pdf(paper, _covered(said))),
        "document information": (
            False,
            lambda paper, said: _pdf(paper, info="/Subject (" + said.replace("(", "[").replace(")", "]") + ")"),
        ),
    },
}
