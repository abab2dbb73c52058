"""Files in and out: exports of records, labels, full texts."""

from litcascade.corpora import (  # noqa: F401  (importing registers the readers)
    asreview,
    bibtex,
    endnote_xml,
    nbib,
    objects,
    ovid,
    pubmed_xml,
    ris,
    sheets,
    table,
    texts,
    wos,
)
from litcascade.corpora.readers import FILE_READERS, READERS, Export, read_records, read_text_as
from litcascade.corpora.receipt import Item, Parsed, Receipt, Repair, SetAside, Tally

__all__ = [
    "FILE_READERS",
    "READERS",
    "Export",
    "Item",
    "Parsed",
    "Receipt",
    "Repair",
    "SetAside",
    "Tally",
    "read_records",
    "read_text_as",
]
