"""Files in and out: exports of records, labels, full texts."""

from litcascade.corpora import (  # noqa: F401  (importing registers the readers)
    bibtex,
    endnote_xml,
    nbib,
    pdf_texts,
    pubmed_xml,
    ris,
    table,
    wos,
    xml_texts,
)
from litcascade.corpora.readers import READERS, read_records
from litcascade.corpora.receipt import Parsed, Receipt, SetAside

__all__ = ["READERS", "Parsed", "Receipt", "SetAside", "read_records"]
