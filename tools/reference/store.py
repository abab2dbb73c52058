"""docs/reference/store.md: tables, columns and views of a store that was made just now, by all migrations."""

import re
import tempfile
from itertools import groupby
from pathlib import Path

from litcascade.schemas.protocol import STAGES
from litcascade.store import Store
from reference.text import code, table

HEAD = """# Tables, columns and views

Made from the code by `python tools/make_docs.py`: what a new store holds once all migrations have run, with the words of
[The store](../store.md), which also says how to open the file. `seq` orders the rows of all tables.
"""
EXPLAINED = Path(__file__).resolve().parents[2] / "docs" / "store.md"
COLUMNS = """
select table_name, column_name, data_type from duckdb_columns()
where not internal and schema_name = 'main' and table_name in (select {name} from {kind}() where not internal)
order by table_name, column_index
"""


def page() -> str:
    """The page of the store."""
    with tempfile.TemporaryDirectory() as folder, Store(Path(folder) / "new.duckdb", create=True) as store:
        store.set_stages(STAGES)
        tables = store.rows(COLUMNS.format(name="table_name", kind="duckdb_tables"))
        views = store.rows(COLUMNS.format(name="view_name", kind="duckdb_views"))
    words = meanings(EXPLAINED.read_text(encoding="utf-8"))
    return HEAD + _part("Tables", tables, words) + _part("Views", views, words)


def meanings(page: str) -> dict[str, str]:
    """What the explained page says of each table and view; a row that names several is said of each, with their names."""
    rows = re.findall(r"^\| (`[^|]+`) \| (.+) \|$", page, re.MULTILINE)
    found: dict[str, str] = {}
    for names, words in rows:
        several = re.findall(r"`(\w+)`", names)
        found |= dict.fromkeys(several, f"{names}: {words}" if len(several) > 1 else f"One row is {words}.")
    return found


def _part(title: str, columns: list[tuple[str, str, str]], words: dict[str, str]) -> str:
    text = f"\n## {title}\n"
    for name, mine in groupby(columns, key=lambda column: column[0]):
        rows = [[code(column), kind.lower()] for _, column, kind in mine]
        text += f"\n### {name}\n\n{words.get(name, '')}\n\n{table(['column', 'type'], rows)}"
    return text
