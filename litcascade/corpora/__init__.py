"""Files in and out: exports of records, labels, full texts."""

from litcascade.corpora import pdf_texts, ris, table, xml_texts  # noqa: F401  (importing registers the readers)
from litcascade.corpora.readers import READERS, read_records
from litcascade.corpora.receipt import Parsed, Receipt, SetAside

__all__ = ["READERS", "Parsed", "Receipt", "SetAside", "read_records"]
