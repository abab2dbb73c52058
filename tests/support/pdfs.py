"""Invented PDFs for tests, written object by object, so that each can have exactly the fault that is wanted."""

import random
import textwrap
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

FONTS = {
    "regular": "Times-Roman",
    "bold": "Times-Bold",
    "italic": "Times-Italic",
    "sans": "Helvetica",
    "sansbold": "Helvetica-Bold",
    "mono": "Courier",
}
Colour = tuple[float, float, float]
BLACK, WHITE = (0.0, 0.0, 0.0), (1.0, 1.0, 1.0)


def words(
    text: str,
    x: float,
    y: float,
    *,
    size: float = 10,
    font: str = "regular",
    colour: Colour = BLACK,
    mode: int = 0,
    turn: str = "",
) -> bytes:
    """One text object whose baseline begins at (x, y); `turn` is a text matrix `a b c d` instead of the upright one."""
    place = f"{turn} {x} {y} Tm" if turn else f"{x} {y} Td"
    red, green, blue = colour
    start = f"q {red} {green} {blue} rg BT /{font} {size} Tf {mode} Tr {place} ".encode()
    return start + b"(" + escaped(text) + b") Tj ET Q\n"


def escaped(text: str) -> bytes:
    """The inside of a PDF string in WinAnsi."""
    raw = text.encode("cp1252")
    return raw.replace(b"\\", b"\\\\").replace(b"(", b"\\(").replace(b")", b"\\)")


def box(x: float, y: float, width: float, height: float, colour: Colour) -> bytes:
    """A filled rectangle."""
    red, green, blue = colour
    return f"q {red} {green} {blue} rg {x} {y} {width} {height} re f Q\n".encode()


def picture(x: float, y: float, width: float, height: float) -> bytes:
    """A light grey image of one pixel stretched over a rectangle, as the picture of a scanned page."""
    return f"q {width} 0 0 {height} {x} {y} cm BI /W 1 /H 1 /CS /G /BPC 8 ID ".encode() + b"\xe6" + b" EI Q\n"


def marked(content: bytes, tag: str, properties: str) -> bytes:
    """Marked content, as `/OC /layer` or `/Span <</ActualText (..)>>`."""
    return f"/{tag} {properties} BDC\n".encode() + content + b"EMC\n"


def column(
    paragraphs: Iterable[str | bytes],
    x: float,
    top: float,
    *,
    width: int = 80,
    leading: float = 12,
    size: float = 10,
    font: str = "regular",
    gap: float = 6,
    hyphenate: bool = False,
) -> bytes:
    """Paragraphs one below the other from `top`, lines of `width` characters; one that begins with `# ` is a heading."""
    content, y = b"", top
    for paragraph in paragraphs:
        if isinstance(paragraph, bytes):
            content += paragraph
            continue
        heading = paragraph.startswith("# ")
        y -= gap if heading else 0
        for line in lines_of(paragraph.removeprefix("# "), width, hyphenate and not heading):
            content += words(line, x, y, size=size + 3 if heading else size, font="bold" if heading else font)
            y -= leading
        y -= gap
    return content


def lines_of(text: str, width: int, hyphenate: bool = False) -> list[str]:
    """Text in lines of at most `width` characters; with `hyphenate` long words are parted where a line is full."""
    if not hyphenate:
        return textwrap.wrap(text, width, break_on_hyphens=False)
    lines, rest = [], text
    while len(rest) > width:
        cut = rest.rfind(" ", 0, width + 1)
        behind = width - 1
        if cut > 0 and behind - cut > 3 and rest[behind - 2 : behind + 3].isalpha():
            lines.append(rest[:behind] + "-")
            rest = rest[behind:]
        else:
            cut = cut if cut > 0 else width
            lines.append(rest[:cut])
            rest = rest[cut:].lstrip()
    return [*lines, rest]


@dataclass(frozen=True)
class Page:
    """What stands on a page; `extra` are further entries of its dictionary, `resources` further ones of its resources."""

    content: bytes
    extra: str = ""
    resources: str = ""
    size: tuple[float, float] = (612, 792)


@dataclass
class Writer:
    """Collects the objects of one file; `add` gives the number under which an object can be referred to."""

    objects: list[bytes] = field(default_factory=lambda: [b"", b""])

    def add(self, body: bytes | str) -> int:
        """Add an object and return its number; 1 and 2 are kept for the catalog and the tree of pages."""
        self.objects.append(body.encode() if isinstance(body, str) else body)
        return len(self.objects)

    def stream(self, content: bytes, entries: str = "", pack: bool = False) -> int:
        """Add a stream, packed by zlib if asked."""
        content = zlib.compress(content) if pack else content
        head = f"<< /Length {len(content)} {'/Filter /FlateDecode' if pack else ''} {entries} >>\nstream\n"
        return self.add(head.encode() + content + b"\nendstream")

    def mapped_font(self, characters: Mapping[int, str] | None, base: str = "Helvetica") -> int:
        """A font whose bytes mean these characters by its ToUnicode map; with None its glyphs have no meaning at all."""
        if characters is None:
            face = self.add(
                "<< /Type /Font /Subtype /CIDFontType2 /BaseFont /Invented /DW 600 "
                "/CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> "
                "/FontDescriptor << /Type /FontDescriptor /FontName /Invented /Flags 4 /FontBBox [0 0 600 800] "
                "/ItalicAngle 0 /Ascent 800 /Descent 0 /CapHeight 700 /StemV 80 >> >>"
            )
            return self.add(
                f"<< /Type /Font /Subtype /Type0 /BaseFont /Invented /Encoding /Identity-H /DescendantFonts [{face} 0 R] >>"
            )
        pairs = "".join(f"<{code:02X}> <{text.encode('utf-16-be').hex()}>\n" for code, text in characters.items())
        cmap = f"""/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /X def
1 begincodespacerange <00> <FF> endcodespacerange
{len(characters)} beginbfchar
{pairs}endbfchar endcmap end end"""
        mapping = self.stream(cmap.encode())
        return self.add(
            f"<< /Type /Font /Subtype /Type1 /BaseFont /{base} /Encoding /WinAnsiEncoding /ToUnicode {mapping} 0 R >>"
        )

    def finish(self, pages: Sequence[Page], *, catalog: str = "", info: str = "", trailer: str = "", pack: bool = False) -> bytes:
        """The whole file with these pages; entries of catalog, document information and trailer as given."""
        fonts = " ".join(
            f"/{name} << /Type /Font /Subtype /Type1 /BaseFont /{base} /Encoding /WinAnsiEncoding >>"
            for name, base in FONTS.items()
        )
        numbers = []
        for page in pages:
            content = self.stream(page.content, pack=pack)
            width, height = page.size
            own = page.resources if "/Font" in page.resources else f"/Font << {fonts} >> {page.resources}"
            numbers.append(
                self.add(
                    f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {width} {height}] /Contents {content} 0 R "
                    f"/Resources << {own} >> {page.extra} >>"
                )
            )
        kids = " ".join(f"{number} 0 R" for number in numbers)
        self.objects[0] = f"<< /Type /Catalog /Pages 2 0 R {catalog} >>".encode()
        self.objects[1] = f"<< /Type /Pages /Kids [{kids}] /Count {len(numbers)} >>".encode()
        if info:
            trailer += f" /Info {self.add(f'<< {info} >>')} 0 R"
        return self._assembled(trailer)

    def _assembled(self, trailer: str) -> bytes:
        out, places = b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n", []
        for number, body in enumerate(self.objects, start=1):
            places.append(len(out))
            out += f"{number} 0 obj\n".encode() + body + b"\nendobj\n"
        table = "".join(f"{place:010d} 00000 n \n" for place in places)
        size = len(self.objects) + 1
        tail = f"xref\n0 {size}\n0000000000 65535 f \n{table}trailer\n<< /Size {size} /Root 1 0 R {trailer} >>\nstartxref\n{len(out)}\n%%EOF\n"
        return out + tail.encode()


def pdf(*pages: Page | bytes, info: str = "", pack: bool = False) -> bytes:
    """A sound file of these pages."""
    return Writer().finish([page if isinstance(page, Page) else Page(page) for page in pages], info=info, pack=pack)


WORDS = """zinc lozenges shorten sore throat among adults children trial placebo controlled cohort risk exposure honey cough dose
outcome weeks analysis effect measured compared baseline participants allocation concealed reported confidence interval difference
statistical intention treatment masked assessors recruitment hospital community nurses telephone questionnaire"""


def sentences(rng: random.Random, count: int) -> str:
    """Invented prose of so many sentences."""
    made = []
    for _ in range(count):
        words_ = rng.choices(WORDS.split(), k=rng.randint(8, 22))
        made.append(" ".join(words_).capitalize() + f" ({rng.randint(2, 99)} of {rng.randint(100, 900)}).")
    return " ".join(made)


def paper(pages: int = 10, seed: int = 1) -> list[Page]:
    """An invented report in two columns, with running heads, page numbers, a table, and a list of references."""
    rng = random.Random(seed)
    made = []
    for number in range(1, pages + 1):
        content = words("Invented and others: Zinc for sore throat", 180, 760, size=8) + words(f"{200 + number}", 300, 30, size=8)
        left, right = 54.0, 318.0
        if number == 1:
            content += words("Zinc lozenges for sore throat in adults: a randomised trial", 54, 700, size=16, font="bold")
            content += words("Ada Invented, Ben Madeup and Cy Fiction", 54, 676, size=11)
            content += words(f"J Invented Med 2021;12:{seed}. doi: 10.5555/zinc.{seed}", 54, 660, size=8)
            content += column(["# Abstract", sentences(rng, 6)], left, 630, width=54)
            content += column(["# Introduction", sentences(rng, 5)], left, 400, width=54)
            content += column([sentences(rng, 8), sentences(rng, 8)], right, 630, width=54)
        elif number == pages:
            cited = [
                f"{n}. Author {chr(64 + n % 26 + 1)}, Other B. {sentences(rng, 1)[:60]}. J Med 20{n:02d};{n}:1-9."
                for n in range(1, 25)
            ]
            content += column(["# References", *cited], left, 720, width=56, size=9, leading=10, gap=2)
        else:
            name = {2: "Methods", 3: "Results", pages - 1: "Discussion"}.get(number, f"Results among {chr(61 + number)} people")
            content += column([f"# {name}", *(sentences(rng, 5) for _ in range(3))], left, 720, width=54)
            content += column([sentences(rng, 6) for _ in range(2)], right, 720, width=54)
            if number == 3:
                content += table(
                    "Table 1. Outcomes by group",
                    [
                        ("Outcome", "Zinc", "Placebo"),
                        ("Pain", "12 (6.0)", "30 (15.1)"),
                        ("Fever", "3 (1.5)", "8 (4.0)"),
                        ("Cough", "44 (22)", "51 (25)"),
                    ],
                    right,
                    240,
                )
        made.append(Page(content))
    return made


def table(caption: str, rows: Sequence[Sequence[str]], x: float, top: float, step: float = 90, size: float = 8) -> bytes:
    """A caption and rows of cells below it; an empty cell is not written."""
    content = words(caption, x, top, size=size, font="bold")
    for row, cells in enumerate(rows, start=1):
        for column_, cell in enumerate(cells):
            content += words(cell, x + step * column_, top - 4 - 11 * row, size=size, font="sans") if cell else b""
    return content
