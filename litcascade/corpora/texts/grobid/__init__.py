"""Full texts from PDF by a GROBID server: polite, resumable, and with nothing stored that is no text.

The request (address and form fields) is made by `grobid-client-python` (extra [grobid]), which keeps up with the
service; it is sent, and its reply read, here over aiohttp. The client's own exchange is not used, for it loses what must
not be lost: a time-out, a refused connection and a dying server all come back as status 400 "Failed to open file"; a busy
server is asked for ever, without regard to Retry-After, and a dripping one waited for without end; whatever comes with status
200 is written as the text, a web page or cut XML too, and skipped over by the next run; and the file is named by the PDF's
stem, so that the second of two PDFs of one name overwrites the first and both count as done. Each is a test in
`tests/corpora/test_grobid.py`.
"""

from litcascade.corpora.texts.grobid.documents import read_with_grobid
from litcascade.corpora.texts.grobid.form import Options
from litcascade.corpora.texts.grobid.replies import Fault, FaultKind, tei_fault
from litcascade.corpora.texts.grobid.server import GrobidServer, Progress
from litcascade.corpora.texts.grobid.service import Version
from litcascade.corpora.texts.grobid.tei_files import Keep, Tei, TeiFolder
from litcascade.corpora.texts.grobid.throttle import Patience

__all__ = [
    "Fault",
    "FaultKind",
    "GrobidServer",
    "Keep",
    "Options",
    "Patience",
    "Progress",
    "Tei",
    "TeiFolder",
    "Version",
    "read_with_grobid",
    "tei_fault",
]
