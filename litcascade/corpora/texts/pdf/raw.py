"""pdfium's own functions, called without the typed wrappers that make each call twice as slow."""

import functools
from ctypes import (
    CFUNCTYPE,
    addressof,
    c_double,
    c_float,
    c_int,
    c_size_t,
    c_uint,
    c_ulong,
    c_void_p,
    cast,
    create_string_buffer,
)
from typing import Any

Box = tuple[float, float, float, float]
Matrix = tuple[float, float, float, float, float, float]
PLAIN: Matrix = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)
_SIGNATURES: dict[str, tuple[Any, ...]] = {
    "FPDFText_CountChars": (c_int, c_void_p),
    "FPDFText_GetText": (c_int, c_void_p, c_int, c_int, c_void_p),
    "FPDFText_GetTextIndexFromCharIndex": (c_int, c_void_p, c_int),
    "FPDFText_GetUnicode": (c_uint, c_void_p, c_int),
    "FPDFText_HasUnicodeMapError": (c_int, c_void_p, c_int),
    "FPDFText_GetTextObject": (c_void_p, c_void_p, c_int),
    "FPDFText_GetCharOrigin": (c_int, c_void_p, c_int, c_void_p, c_void_p),
    "FPDFText_GetCharBox": (c_int, c_void_p, c_int, c_void_p, c_void_p, c_void_p, c_void_p),
    "FPDFText_GetMatrix": (c_int, c_void_p, c_int, c_void_p),
    "FPDFText_GetFontSize": (c_double, c_void_p, c_int),
    "FPDFTextObj_GetFont": (c_void_p, c_void_p),
    "FPDFTextObj_GetTextRenderMode": (c_int, c_void_p),
    "FPDFFont_GetBaseFontName": (c_size_t, c_void_p, c_void_p, c_size_t),
    "FPDFFont_GetFlags": (c_int, c_void_p),
    "FPDFFont_GetWeight": (c_int, c_void_p),
    "FPDFPageObj_GetType": (c_int, c_void_p),
    "FPDFPageObj_GetBounds": (c_int, c_void_p, c_void_p, c_void_p, c_void_p, c_void_p),
    "FPDFPageObj_GetMatrix": (c_int, c_void_p, c_void_p),
    "FPDFPageObj_GetFillColor": (c_int, c_void_p, c_void_p, c_void_p, c_void_p, c_void_p),
    "FPDFPageObj_GetStrokeWidth": (c_int, c_void_p, c_void_p),
    "FPDFPageObj_HasTransparency": (c_int, c_void_p),
    "FPDFPageObj_GetClipPath": (c_void_p, c_void_p),
    "FPDFClipPath_CountPaths": (c_int, c_void_p),
    "FPDFClipPath_CountPathSegments": (c_int, c_void_p, c_int),
    "FPDFClipPath_GetPathSegment": (c_void_p, c_void_p, c_int, c_int),
    "FPDFPathSegment_GetPoint": (c_int, c_void_p, c_void_p, c_void_p),
    "FPDFPageObj_CountMarks": (c_int, c_void_p),
    "FPDFPageObj_GetMark": (c_void_p, c_void_p, c_ulong),
    "FPDFPageObjMark_GetName": (c_int, c_void_p, c_void_p, c_ulong, c_void_p),
    "FPDFPageObj_SetIsActive": (c_int, c_void_p, c_int),
    "FPDFPath_GetDrawMode": (c_int, c_void_p, c_void_p, c_void_p),
    "FPDFPage_CountObjects": (c_int, c_void_p),
    "FPDFPage_GetObject": (c_void_p, c_void_p, c_int),
    "FPDFFormObj_CountObjects": (c_int, c_void_p),
    "FPDFFormObj_GetObject": (c_void_p, c_void_p, c_ulong),
}


class Api:
    """The functions above by name, and buffers that their results are written to (one thread at a time, as pdfium itself)."""

    def __init__(self) -> None:
        import pypdfium2.raw as raw

        self.raw = raw
        self.call = {
            name: CFUNCTYPE(*signature)(cast(getattr(raw, name), c_void_p).value or 0) for name, signature in _SIGNATURES.items()
        }
        self.doubles, self.floats, self.words = (c_double * 4)(), (c_float * 6)(), (c_uint * 4)()
        self.at_doubles = [addressof(self.doubles) + 8 * index for index in range(4)]
        self.at_floats = [addressof(self.floats) + 4 * index for index in range(6)]
        self.at_words = [addressof(self.words) + 4 * index for index in range(4)]

    def page_to_device(self, page: Any, width: int, height: int, x: float, y: float) -> tuple[int, int]:
        """Where a point of a page lies in its picture of this size."""
        across, down = c_int(), c_int()
        self.raw.FPDF_PageToDevice(page, 0, 0, width, height, 0, x, y, across, down)
        return across.value, down.value

    def matrix(self) -> Matrix:
        """The six numbers that a call has just written."""
        a, b, c, d, e, f = self.floats
        return a, b, c, d, e, f


@functools.cache
def api() -> Api:
    """The one table of functions of this process."""
    return Api()


def characters(text_page: int) -> list[str]:
    """Every character of a page in pdfium's order."""
    call = api().call
    count = call["FPDFText_CountChars"](text_page)
    if count <= 0:
        return []
    buffer = create_string_buffer(2 * count + 2)
    units = call["FPDFText_GetText"](text_page, 0, count, addressof(buffer)) - 1
    if units == count and call["FPDFText_GetTextIndexFromCharIndex"](text_page, count - 1) == count - 1:
        found = list(buffer.raw[: 2 * count].decode("utf-16-le", "replace"))
        if len(found) == count:
            return found
    code = call["FPDFText_GetUnicode"]
    return _signs([code(text_page, index) for index in range(count)])


def _signs(codes: list[int]) -> list[str]:
    """Characters of these codes; of a pair of surrogates the first is the character, the second nothing."""
    signs = []
    for index, code in enumerate(codes):
        after = codes[index + 1] if index + 1 < len(codes) else 0
        if 0xD800 <= code < 0xDC00 and 0xDC00 <= after < 0xE000:
            signs.append(chr(0x10000 + ((code - 0xD800) << 10) + after - 0xDC00))
        elif 0xDC00 <= code < 0xE000 and index and 0xD800 <= codes[index - 1] < 0xDC00:
            signs.append("")
        else:
            signs.append(chr(code) if code < 0x110000 and not 0xD800 <= code < 0xE000 else "\ufffd")
    return signs


def nameless(text_page: int, count: int) -> list[int]:
    """Places of the characters whose meaning the file does not give: pdfium shows the number of the glyph instead."""
    failed = api().call["FPDFText_HasUnicodeMapError"]
    return [index for index in range(count) if failed(text_page, index) == 1]


def owners(text_page: int, count: int) -> list[int]:
    """The address of the text object of every character; 0 for those that pdfium put between."""
    of = api().call["FPDFText_GetTextObject"]
    return [of(text_page, index) or 0 for index in range(count)]


def origin(text_page: int, index: int) -> tuple[float, float]:
    """Where a character's baseline begins, in points of the page."""
    table = api()
    table.call["FPDFText_GetCharOrigin"](text_page, index, *table.at_doubles[:2])
    return table.doubles[0], table.doubles[1]


def char_box(text_page: int, index: int) -> Box:
    """(Left, bottom, right, top) of a character's ink."""
    table = api()
    left, right, bottom, top = table.at_doubles
    table.call["FPDFText_GetCharBox"](text_page, index, left, right, bottom, top)
    return table.doubles[0], table.doubles[2], table.doubles[1], table.doubles[3]


def char_matrix(text_page: int, index: int) -> Matrix:
    """The matrix a character is drawn by."""
    table = api()
    return table.matrix() if table.call["FPDFText_GetMatrix"](text_page, index, table.at_floats[0]) else PLAIN


def font_size(text_page: int, index: int) -> float:
    """Font size before the matrix."""
    return float(api().call["FPDFText_GetFontSize"](text_page, index))


def handle(wrapped: Any) -> int:
    """The address behind one of pypdfium2's objects."""
    return cast(wrapped.raw, c_void_p).value or 0
