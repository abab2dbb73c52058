"""Records out, one file a format, ids and decisions with them: what our readers read back is the same."""

from litcascade.corpora.writers import (  # noqa: F401  (importing registers the writers)
    asreview,
    bibtex,
    delimited,
    hugging_face,
    jsonl,
    parquet,
    ris,
    workbook,
)
from litcascade.corpora.writers.base import WRITERS, About, Answer, Row, Writer, Written, format_of, write_records
from litcascade.corpora.writers.delimited import write_csv, write_table
from litcascade.corpora.writers.ris import write_ris

__all__ = [
    "WRITERS",
    "About",
    "Answer",
    "Row",
    "Writer",
    "Written",
    "format_of",
    "write_csv",
    "write_records",
    "write_ris",
    "write_table",
]
