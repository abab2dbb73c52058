"""The bytes of a PDF file, or why there is nothing to send."""

import gzip
import zlib
from pathlib import Path

from litcascade.corpora.texts.files import SIZE_LIMIT
from litcascade.corpora.texts.grobid.replies import Fault, FaultKind


def pdf_bytes(path: Path) -> bytes | Fault:
    """The file's bytes, unpacked where it is packed with gzip; what is no PDF is not sent anywhere."""
    try:
        if path.stat().st_size > SIZE_LIMIT:
            return _too_large()
        raw = path.read_bytes()
        if raw.startswith(b"\x1f\x8b"):
            with gzip.open(path) as handle:
                raw = handle.read(SIZE_LIMIT + 1)
    except (OSError, EOFError, zlib.error) as error:
        return Fault(FaultKind.BROKEN, f"cannot be read: {error}")
    if len(raw) > SIZE_LIMIT:
        return _too_large()
    if not raw.strip():
        return Fault(FaultKind.EMPTY, "the file has no bytes")
    if b"%PDF" not in raw[:1024]:
        return Fault(FaultKind.BROKEN, "not a PDF: it does not begin with %PDF")
    return raw


def _too_large() -> Fault:
    return Fault(FaultKind.BROKEN, f"larger than {SIZE_LIMIT // 2**20} MiB")
