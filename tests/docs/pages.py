"""Pages of the documentation as blocks of code with the marks that stand before them, and the commands on them.

A mark is a comment in the page, on a line before a block:

    <!-- run: NAME -->             the block's commands are run in order (NAME groups pages in messages only)
    <!-- file: PATH -->            the block is written to a file
    <!-- append: PATH -->          the block is put at the end of a file
    <!-- shown -->                 every line of the block stands in what the commands since the last such block printed
    <!-- person: FILE, ID=DECISION, *=DECISION -->   before no block: how a person fills in a table that waits; the rest stays blank
"""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
MADE = {DOCS / "reference" / "cli.md"}  # printed from the tree of commands itself
MARK = re.compile(r"^<!-- (run|file|append|shown|person)(?:: (.+?))? -->$")
INLINE = re.compile(r"`(litcascade [^`]+)`")


@dataclass(frozen=True)
class Block:
    """A block of code: its first line in the page, language ("" where indented), text, and the mark before it."""

    line: int
    language: str
    text: str
    mark: str = ""
    given: str = ""


@dataclass(frozen=True)
class Command:
    """A command line of litcascade; `whole` where it stands in a block, so that it is meant to be typed as it is."""

    where: str
    words: tuple[str, ...]
    whole: bool


def pages() -> list[Path]:
    """Every page that people read."""
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]


def blocks(page: Path) -> list[Block]:
    """All blocks and persons' marks of a page, in order."""
    lines = page.read_text(encoding="utf-8").splitlines()
    found: list[Block] = []
    mark, at = ("", ""), 0
    while at < len(lines):
        line = lines[at]
        if marked := MARK.match(line):
            mark = (marked[1], marked[2] or "")
            if mark[0] == "person":
                found.append(Block(at + 1, "", "", *mark))
                mark = ("", "")
        elif line.startswith("```") or (line.startswith("    ") and not (at and lines[at - 1].strip())):
            end = _end(lines, at)
            body = lines[at + 1 : end - 1] if line.startswith("```") else [text[4:] for text in lines[at:end]]
            found.append(Block(at + 1, line[3:].strip() if line.startswith("```") else "", "\n".join(body).rstrip(), *mark))
            mark, at = ("", ""), end
            continue
        elif line.strip():
            assert not mark[0], f"{page.name}:{at + 1}: the mark '{mark[0]}' stands before no block"
        at += 1
    return found


def _end(lines: list[str], at: int) -> int:
    """The line after a block that begins at `at`."""
    end = at + 1
    if lines[at].startswith("```"):
        while lines[end] != "```":
            end += 1
        return end + 1
    while end < len(lines) and (lines[end].startswith("    ") or not lines[end].strip()):
        end += 1
    return end


def commands(page: Path) -> Iterator[Command]:
    """Every command of litcascade that a page names, in blocks and in its sentences."""
    name = page.relative_to(ROOT).as_posix()
    inside: set[int] = set()
    for block in blocks(page):
        size = block.text.count("\n") + 1
        inside |= set(range(block.line, block.line + size + 2 * bool(block.language)))
        if block.language not in ("python", "toml", "text", "output"):
            for line in joined(block.text):
                yield from (Command(f"{name}:{block.line}", words, True) for words in split(line))
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), start=1):
        if number not in inside:
            for text in INLINE.findall(line):
                yield from (Command(f"{name}:{number}", words, False) for words in split(text))


def joined(text: str) -> list[str]:
    """The lines of a block, those that end in a backslash with the next."""
    return text.replace("\\\n", " ").splitlines()


def split(line: str) -> Iterator[tuple[str, ...]]:
    """The words of each litcascade command of a line: comments, other programs, redirections and `…` left out."""
    try:
        words = shlex.split(line, comments=True)
    except ValueError:
        return  # SQL and prose with a lone quotation mark
    mine: list[str] | None = None
    for word in [*words, ";"]:
        if word in ("&&", ";", "|", ">"):
            if mine is not None:
                yield tuple(mine)
            mine = None
        elif mine is not None:
            mine += [part for part in [word.strip("[]")] if part.strip("…")]
        elif word.rsplit("/", 1)[-1] == "litcascade":
            mine = []
