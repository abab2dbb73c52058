"""Full texts of many kinds in one document model: files read, their faults named, matched to records."""

from litcascade.corpora.texts import html, jats, pdf, tei  # noqa: F401  (importing registers the readers)
from litcascade.corpora.texts.base import TEXT_READERS, Body
from litcascade.corpora.texts.files import ENDINGS, find_files, read_document, tell_format
from litcascade.corpora.texts.matching import Known, Matcher, file_form
from litcascade.corpora.texts.plain import read_plain

__all__ = [
    "ENDINGS",
    "TEXT_READERS",
    "Body",
    "Known",
    "Matcher",
    "file_form",
    "find_files",
    "read_document",
    "read_plain",
    "tell_format",
]
