"""What is asked of GROBID, and the request for it as `grobid-client-python` makes it, unsent."""

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import Any

from litcascade.errors import MissingExtraError

SERVICE = "processFulltextDocument"
PLACED = ("title", "head", "p", "s", "figure", "formula", "note", "biblStruct")


@dataclass(frozen=True)
class Options:
    """What the server is asked to do with a PDF; part of the name under which a text is kept.

    `coordinates`: elements that are to carry page and box; `sentences`: split paragraphs into sentences; `consolidate`:
    look the header up by the exact DOI that stands in the paper. Fuzzy look-ups of header or references, which replace a
    paper's identity by that of another, cannot be asked for.
    """

    coordinates: tuple[str, ...] = PLACED
    sentences: bool = False
    consolidate: bool = False

    def digest(self) -> str:
        """12 hexadecimal digits that differ where any option does."""
        return hashlib.sha256(json.dumps(asdict(self), sort_keys=True).encode()).hexdigest()[:12]


@dataclass(frozen=True)
class Form:
    """Where a PDF is posted to, and the fields that go with it."""

    url: str
    alive: str
    version: str
    fields: tuple[tuple[str, str], ...]


def form_of(base: str, options: Options) -> Form:
    """The request for a full text; raises `MissingExtraError` where the package is not installed."""
    try:
        from grobid_client.grobid_client import GrobidClient
        from requests import Response
    except ImportError:
        raise MissingExtraError("parsing PDF by GROBID", "grobid") from None

    class Unsent(GrobidClient):
        """Keeps what would be sent; the package hands every request to this method."""

        fields: tuple[tuple[str, str], ...] = ()

        def post(self, url: str, params: Any = None, data: Any = None, files: Any = None, **kwargs: Any) -> tuple[Response, int]:
            self.fields = tuple((name, item) for name, value in data.items() for item in _each(value))
            return Response(), 200

    client = Unsent(base, coordinates=list(options.coordinates), check_server=False)
    client.process_pdf(
        SERVICE,
        b"",
        consolidate_header=False,
        tei_coordinates=bool(options.coordinates),
        segment_sentences=options.sentences,
    )
    header = ("consolidateHeader", "3" if options.consolidate else "0")  # the package can say 1 (fuzzy) or nothing
    address = client.get_server_url
    return Form(address(SERVICE), address("isalive"), address("version"), (header, *client.fields))


def _each(value: object) -> list[str]:
    return [str(item) for item in value] if isinstance(value, list | tuple) else [str(value)]
