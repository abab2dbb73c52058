"""Excel workbooks (.xlsx, .xls): every sheet with a header row that names titles or abstracts; a sheet is held whole."""

from collections.abc import Iterator, Mapping
from datetime import date, datetime, time, timedelta
from pathlib import Path

from litcascade.corpora.columns import find_layout
from litcascade.corpora.readers import FILE_READERS
from litcascade.corpora.receipt import Item, Repair
from litcascade.corpora.table import Row, table_items
from litcascade.errors import InputError
from litcascade.schemas import Record

Value = int | float | str | bool | time | date | datetime | timedelta


@FILE_READERS.register("xlsx")
@FILE_READERS.register("xls")
def read_workbook(path: Path, columns: Mapping[str, str]) -> Iterator[Item]:
    """Read the sheets that hold records; the others are named. Every cell is text, a whole number without a point."""
    refused: list[str] = []
    position = 0
    for name, rows in _sheets(path):
        if not rows:
            continue
        try:
            layout = find_layout([row.cells for row in rows[:50]], f"{path} (sheet '{name}')", columns)
        except InputError as error:
            refused.append(str(error))
            yield Repair(f"sheet '{name}' holds no titles or abstracts; its {len(rows)} row(s) were not read")
            continue
        for item in table_items(rows, layout, "\t", position):
            position += isinstance(item, Record)
            yield item
    if refused and not position:
        raise InputError(refused[0])


def _sheets(path: Path) -> Iterator[tuple[str, list[Row]]]:
    import python_calamine as calamine

    try:
        book = calamine.CalamineWorkbook.from_path(path)
        for name in book.sheet_names:
            sheet = book.get_sheet_by_name(name)
            first = (sheet.start or (0, 0))[0] + 1
            cells = [[cell_text(value) for value in row] for row in sheet.iter_rows()]
            yield name, [Row(number, row) for number, row in enumerate(cells, start=first) if any(row)]
    except (calamine.CalamineError, OSError, ValueError) as error:
        raise InputError(
            f"{path}: is an Office file that cannot be read as a workbook ({str(error)[:120]}); save it as .xlsx or CSV"
        ) from None


def cell_text(value: Value | None) -> str:
    """A cell as text; 2020.0 is 2020, a date its ISO form."""
    if isinstance(value, bool):
        return "1" if value else "0"
    if isinstance(value, float) and value.is_integer() and abs(value) <= 2**53:
        return str(int(value))
    if isinstance(value, date | time):
        return value.isoformat().removesuffix("T00:00:00")
    return "" if value is None else str(value).strip()
