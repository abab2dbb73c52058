"""What stands between the running text of a PDF page: captions, footnotes, and the rows of tables and pictures."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from litcascade.corpora.texts.headings import split_label
from litcascade.corpora.texts.pdf.lines import ROW_GAP, Line, make_line
from litcascade.corpora.texts.pdf.order import blocks_of
from litcascade.corpora.texts.pdf.paragraphs import Paragraph, ParagraphKind, Style, paragraphs

_STOPS = ".:|–—"
_MARK = re.compile(r"(?:[*†‡§¶#∗]{1,3}|\d{1,2})\s?(?=\S)")


@dataclass
class _Region:
    kind: ParagraphKind
    lines: list[Line]


def parts_of(lines: Sequence[Line], style: Style, foot: float) -> list[Paragraph]:
    """The paragraphs of one page in the order of reading; below `foot` (a height) small text may be a footnote."""
    found: list[Paragraph] = []
    for region in _regions(lines, style, foot):
        if region.kind == "text":
            found += [part for piece in _rows_apart(region.lines, style) for part in piece]
        else:
            found.append(Paragraph(tuple(region.lines), region.kind))
    return found


def _regions(lines: Sequence[Line], style: Style, foot: float) -> Iterator[_Region]:
    """Captions and footnotes, and the lines between them."""
    rest: list[Line] = []
    index = last_note = 0
    while index < len(lines):
        line, before = lines[index], lines[index - 1] if index and index != last_note else None
        kind: ParagraphKind | None = None
        if starts_caption(line, before, style):
            kind, end = "caption", _end_of_caption(lines, index, style)
        elif _starts_footnote(line, style, foot):
            kind, end = "footnote", _end_of_note(lines, index, style, foot)
        if kind is None or (kind == "footnote" and _is_table_note(line, before, style)):
            rest.append(line)
            index += 1
            continue
        if rest:
            yield _Region("text", rest)
        rest = []
        yield _Region(kind, list(lines[index:end]))
        index = end
        last_note = end if kind == "footnote" else last_note
    if rest:
        yield _Region("text", rest)


def starts_caption(line: Line, before: Line | None, style: Style) -> bool:
    """Whether a line begins the caption of a table or figure, not a sentence that names one."""
    label, rest = split_label(line.text)
    if label is None:
        return False
    stopped = line.text[len(label) :].lstrip()[:1] in _STOPS if rest else True
    apart = before is None or not _directly_below(before, line, style)
    own = abs(line.size - style.size) > 0.45 or line.spans[0].face != style.face
    if rest and not stopped and (rest[:1].islower() or not own):
        return False
    return apart or own


def _directly_below(before: Line, line: Line, style: Style) -> bool:
    step = before.y - line.y
    return 0 < step <= 1.25 * style.leading * line.size and abs(before.size - line.size) <= 0.3


def _end_of_caption(lines: Sequence[Line], start: int, style: Style) -> int:
    """One behind the last line of a caption; a label alone on its line takes the next with it."""
    end = start + 1
    first = lines[start]
    bare = not split_label(first.text)[1]
    while end < len(lines):
        before, line = lines[end - 1], lines[end]
        step = before.y - line.y
        if bare and end == start + 1 and 0 < step <= 2.6 * line.size and len(line.cells) == 1:
            end += 1
            continue
        model = lines[start + 1] if bare and end > start + 1 else first
        if not 0 < step <= 1.3 * style.leading * line.size or abs(line.size - model.size) > 0.35 or len(line.cells) > 1:
            break
        if (line.bold != model.bold and model.bold) or line.x0 < first.x0 - 3 or starts_caption(line, None, style):
            break
        full = max(one.x1 for one in lines[start : end + 1])
        if before.text.endswith(".") and before.x1 < full - 0.15 * (full - first.x0):
            break
        end += 1
    return end


def _starts_footnote(line: Line, style: Style, foot: float) -> bool:
    if line.y > foot or line.size > style.size - 0.6 or not _MARK.match(line.text) or len(line.text) < 12:
        return False
    mark = line.spans[0]
    return not mark.text[:1].isdigit() or (mark.size < 0.9 * line.size and mark.y > line.y + 0.1 * line.size)


def _is_table_note(line: Line, before: Line | None, style: Style) -> bool:
    """Whether a note stands right below other small text, as those of a table do; one of the page has running text above it."""
    return before is not None and 0 < before.y - line.y <= 2 * line.size and before.size < style.size - 0.6


def _end_of_note(lines: Sequence[Line], start: int, style: Style, foot: float) -> int:
    end = start + 1
    while end < len(lines):
        before, line = lines[end - 1], lines[end]
        step = before.y - line.y
        if not 0 < step <= 1.6 * line.size or line.size > style.size - 0.6 or _starts_footnote(line, style, foot):
            break
        end += 1
    return end


def _rows_apart(lines: Sequence[Line], style: Style) -> Iterator[list[Paragraph]]:
    """Runs of lines that are the rows of a table (or the words of a picture), put in rows, and the prose between."""
    prose = {id(line) for block in blocks_of(lines) for line in _prose(block.lines, style)}
    run: list[Line] = []
    rest: list[Line] = []
    for line in [*lines, None]:
        if line is not None and (id(line) not in prose or _is_note_of(run, line, style)) and _joins(run, line):
            run.append(line)
            continue
        if run:
            if _is_grid(run):
                if rest:
                    yield paragraphs([rest], style)
                rest = []
                yield [Paragraph(tuple(straightened(run)), "rows")]
            else:
                rest += run
        run = [line] if line is not None and id(line) not in prose else []
        rest += [line] if line is not None and id(line) in prose else []
    if rest:
        yield paragraphs([rest], style)


def _prose(lines: Sequence[Line], style: Style) -> list[Line]:
    """The lines of a block that are prose: in the body's style, or full lines of one size."""
    found: list[Line] = []
    begin = 0
    for index in range(1, len(lines) + 1):
        if index < len(lines) and abs(lines[index].size - lines[begin].size) <= 0.3:
            continue
        part = lines[begin:index]
        begin = index
        left, right = min(line.x0 for line in part), max(line.x1 for line in part)
        single = [line for line in part if len(line.cells) == 1 and not _has_figures(line)]
        full = sum(line.x1 >= left + 0.8 * (right - left) for line in single)
        filled = len(part) >= 3 and full >= 0.55 * len(part) and right - left > 10 * part[0].size
        found += part if filled else [line for line in single if style.is_body(line)]
    return found


def _joins(run: Sequence[Line], line: Line) -> bool:
    """Whether a line may belong to the rows before it: not above the first of them, and not far below the last."""
    if not run:
        return True
    top, bottom = max(one.y for one in run), min(one.y for one in run)
    return bottom - 6 * line.size <= line.y <= top + 3 * line.size


def _is_note_of(run: Sequence[Line], line: Line, style: Style) -> bool:
    """Whether a line is small text right below rows."""
    if not run or not _is_grid(run) or line.size > min(style.size - 0.5, min(one.size for one in run) + 0.2):
        return False
    return 0 < min(one.y for one in run) - line.y <= 2 * line.size and line.x0 >= min(one.x0 for one in run) - 3


def _is_grid(run: Sequence[Line]) -> bool:
    rows = sum(len(line.cells) > 1 or _has_figures(line) for line in run)
    ordered = sorted(run, key=lambda line: line.y)
    beside = sum(abs(one.y - other.y) < 0.3 * one.size for one, other in pairwise(ordered))
    return len(run) >= 3 and rows + beside >= 2


def _has_figures(line: Line) -> bool:
    """Whether a line holds at least three numbers that make up most of its words."""
    words = line.text.split()
    numbers = sum(bool(re.fullmatch(r"[(\[<>=≤≥±+−–-]*\d[\d.,%)\]±–−/*-]*", word)) for word in words)
    return numbers >= 3 and numbers >= 0.5 * len(words)


def straightened(run: Sequence[Line]) -> list[Line]:
    """Lines as rows from top to bottom: what stands on one baseline becomes one line."""
    rows: list[list[Line]] = []
    for line in sorted(run, key=lambda line: -line.y):
        if rows and abs(rows[-1][0].y - line.y) <= 0.35 * max(line.size, rows[-1][0].size):
            rows[-1].append(line)
        else:
            rows.append([line])
    return [
        make_line(row[0].page, [span for line in sorted(row, key=lambda one: one.x0) for span in line.spans], ROW_GAP)
        for row in rows
    ]
