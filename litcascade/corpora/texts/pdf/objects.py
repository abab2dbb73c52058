"""The objects of a PDF page: how they are drawn, in which order, and the notes laid over them."""

from collections.abc import Iterator
from ctypes import POINTER, addressof, c_float, c_int, c_ulong, c_ushort, cast, create_string_buffer
from dataclasses import dataclass
from typing import Any

from litcascade.corpora.texts.pdf.raw import PLAIN, Box, Matrix, api

TEXT, PATH, IMAGE, SHADING, FORM = 1, 2, 3, 4, 5
OBJECTS_LIMIT = 20_000
_DEPTH, _CORNERS = 6, 5


def fill_colour(item: int) -> tuple[int, int, int, int] | None:
    """Red, green, blue and opacity (0 to 255); None where it is a pattern."""
    table = api()
    if not table.call["FPDFPageObj_GetFillColor"](item, *table.at_words):
        return None
    red, green, blue, opacity = table.words
    return red, green, blue, opacity


def clip_box(item: int) -> Box | None:
    """The box that an object's clipping leaves, empty where it is no box; None where nothing clips it."""
    table = api()
    clip = table.call["FPDFPageObj_GetClipPath"](item)
    left, bottom, right, top = (-1e9, -1e9, 1e9, 1e9)
    count = table.call["FPDFClipPath_CountPaths"](clip) if clip else 0
    for path in range(max(count, 0)):
        points = []
        for index in range(min(table.call["FPDFClipPath_CountPathSegments"](clip, path), _CORNERS + 1)):
            segment = table.call["FPDFClipPath_GetPathSegment"](clip, path, index)
            table.call["FPDFPathSegment_GetPoint"](segment, *table.at_floats[:2])
            points.append((table.floats[0], table.floats[1]))
        if len(points) > _CORNERS:
            return (0.0, 0.0, 0.0, 0.0)
        if points:
            left, right = max(left, min(x for x, _ in points)), min(right, max(x for x, _ in points))
            bottom, top = max(bottom, min(y for _, y in points)), min(top, max(y for _, y in points))
    return (left, bottom, right, top) if count > 0 else None


def mark_names(item: int) -> list[str]:
    """Tags of the marked content an object stands in."""
    call = api().call
    names = []
    for index in range(max(call["FPDFPageObj_CountMarks"](item), 0)):
        buffer, length = create_string_buffer(64), c_ulong()
        if call["FPDFPageObjMark_GetName"](call["FPDFPageObj_GetMark"](item, index), addressof(buffer), 64, addressof(length)):
            names.append(buffer.raw[: max(min(length.value, 64) - 2, 0)].decode("utf-16-le", "replace"))
    return names


def font_of(item: int) -> int:
    """The address of a text object's font."""
    return api().call["FPDFTextObj_GetFont"](item) or 0


def font_name(font: int) -> str:
    """Its name in the file, empty where it has none."""
    buffer = create_string_buffer(200)
    length = api().call["FPDFFont_GetBaseFontName"](font, addressof(buffer), 200)
    return buffer.raw[: max(min(length, 200) - 1, 0)].decode("utf-8", "replace")


def font_weight(font: int) -> int:
    """400 is regular; 700 also where the font is flagged as forced bold."""
    forced = api().call["FPDFFont_GetFlags"](font) & (1 << 18)
    return 700 if forced else int(api().call["FPDFFont_GetWeight"](font))


def text_mode(item: int) -> int:
    """0 filled, 1 outlined, 2 both, 3 invisible, 4 to 7 the same as a clip."""
    return int(api().call["FPDFTextObj_GetTextRenderMode"](item))


def is_transparent(item: int) -> bool:
    """Whether an object is drawn through transparency of any kind."""
    return bool(api().call["FPDFPageObj_HasTransparency"](item))


def set_active(item: int, active: bool) -> None:
    """Draw an object or leave it out of what is rendered; nothing in the file changes."""
    api().call["FPDFPageObj_SetIsActive"](item, active)


class TooManyObjectsError(ValueError):
    """A page holds more objects than are gone through."""


@dataclass(frozen=True, slots=True)
class Thing:
    """One object of a page in the order of drawing; `nested` where it stands in a form."""

    item: int
    kind: int
    order: int
    box: Box
    nested: bool


def things(page: int) -> Iterator[Thing]:
    """All objects of a page, those in forms too; a page of more than the limit is a `TooManyObjectsError`."""
    call = api().call
    tops = call["FPDFPage_CountObjects"](page)
    if tops > OBJECTS_LIMIT:
        raise TooManyObjectsError(OBJECTS_LIMIT)
    stack = [(call["FPDFPage_GetObject"](page, index), PLAIN, 0) for index in reversed(range(tops))]
    order = 0
    while stack:
        item, matrix, depth = stack.pop()
        if not item:
            continue
        order += 1
        kind = call["FPDFPageObj_GetType"](item)
        yield Thing(item, kind, order, _bounds(item, matrix), depth > 0)
        if kind == FORM and depth < _DEPTH:
            inner = _product(_placement(item), matrix)
            count = max(call["FPDFFormObj_CountObjects"](item), 0)
            if order + len(stack) + count > OBJECTS_LIMIT:
                raise TooManyObjectsError(OBJECTS_LIMIT)
            stack += [(call["FPDFFormObj_GetObject"](item, index), inner, depth + 1) for index in reversed(range(count))]


def _placement(item: int) -> Matrix:
    table = api()
    return table.matrix() if table.call["FPDFPageObj_GetMatrix"](item, table.at_floats[0]) else PLAIN


def _product(inner: Matrix, outer: Matrix) -> Matrix:
    a, b, c, d, e, f = inner
    g, h, i, j, k, m = outer
    return (a * g + b * i, a * h + b * j, c * g + d * i, c * h + d * j, e * g + f * i + k, e * h + f * j + m)


def _bounds(item: int, matrix: Matrix) -> Box:
    table = api()
    if not table.call["FPDFPageObj_GetBounds"](item, *table.at_floats[:4]):
        return (0.0, 0.0, 0.0, 0.0)
    left, bottom, right, top = table.floats[:4]
    if matrix == PLAIN:
        return left, bottom, right, top
    a, b, c, d, e, f = matrix
    corners = [(a * x + c * y + e, b * x + d * y + f) for x in (left, right) for y in (bottom, top)]
    xs, ys = [x for x, _ in corners], [y for _, y in corners]
    return min(xs), min(ys), max(xs), max(ys)


def is_area(thing: Thing) -> bool:
    """Whether an object can hide what lies below it, or be a ground for text: a filling, a thick line, an image, a shading."""
    left, bottom, right, top = thing.box
    if thing.kind in (IMAGE, SHADING):
        return True
    if thing.kind != PATH or right - left < 2 or top - bottom < 2:
        return False
    table = api()
    filled, stroked, width = c_int(), c_int(), c_float()
    table.call["FPDFPath_GetDrawMode"](thing.item, addressof(filled), addressof(stroked))
    if filled.value or not stroked.value:
        return bool(filled.value)
    table.call["FPDFPageObj_GetStrokeWidth"](thing.item, addressof(width))
    return width.value > 4


def annotation_texts(page: Any) -> list[str]:
    """Notes and filled-in fields laid over a page; links are left out."""
    raw = api().raw
    found = []
    for index in range(max(raw.FPDFPage_GetAnnotCount(page), 0)):
        annotation = raw.FPDFPage_GetAnnot(page, index)
        if not annotation:
            continue
        try:
            if raw.FPDFAnnot_GetSubtype(annotation) not in (raw.FPDF_ANNOT_LINK, raw.FPDF_ANNOT_POPUP):
                found += [text for key in (b"Contents", b"V") if (text := _annotation_value(raw, annotation, key))]
        finally:
            raw.FPDFPage_CloseAnnot(annotation)
    return found


def _annotation_value(raw: Any, annotation: Any, key: bytes) -> str:
    length = raw.FPDFAnnot_GetStringValue(annotation, key, None, 0)
    if length <= 2:
        return ""
    buffer = create_string_buffer(length)
    raw.FPDFAnnot_GetStringValue(annotation, key, cast(buffer, POINTER(c_ushort)), length)
    return buffer.raw[: length - 2].decode("utf-16-le", "replace").strip()
