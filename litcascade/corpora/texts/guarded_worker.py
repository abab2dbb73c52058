"""The process that reads full texts for `read_guarded`: one at a time, within its limits, answers as JSON."""

import contextlib
import json
import pickle
import signal
from multiprocessing.connection import Connection
from pathlib import Path

from litcascade.errors import LitcascadeError
from litcascade.schemas import Document
from litcascade.schemas.keys import scrubbed

READY, DOCUMENT, MEMORY, FAULT, RAISED = b"R", b"D", b"M", b"F", b"E"


def serve(descriptor: int) -> None:
    """Answer paths with documents until the other end closes or a document needs more memory than there is.

    Documents go back as JSON: what a hostile file may have done to this process, it cannot hand on.
    """
    connection = Connection(descriptor)
    read, seconds, memory_mb = pickle.loads(connection.recv_bytes())
    _limit_memory(memory_mb)
    connection.send_bytes(READY)
    while True:
        try:
            path = Path(connection.recv_bytes().decode("utf-8", "surrogateescape"))
        except EOFError:
            return
        _alarm(seconds + 10)
        try:
            answer = DOCUMENT + _packed(read(path))
        except MemoryError:
            answer = MEMORY
        except LitcascadeError as error:
            answer = RAISED + json.dumps([type(error).__name__, str(error)]).encode()
        except Exception as error:  # noqa: BLE001  (a parser's own fault is that document's, and nobody else's)
            answer = FAULT + f"{type(error).__name__}: {str(error)[:200]}".encode("utf-8", "replace")
        _alarm(0)
        connection.send_bytes(answer)
        if answer == MEMORY:
            return


def _packed(document: Document) -> bytes:
    try:
        return document.model_dump_json().encode()
    except ValueError:
        return Document(**scrubbed(document.model_dump())).model_dump_json().encode()


def _alarm(seconds: float) -> None:
    """End this process after so many seconds even where nobody is left to end it; 0 calls it off."""
    with contextlib.suppress(AttributeError, ValueError):
        signal.setitimer(signal.ITIMER_REAL, seconds)


def _limit_memory(megabytes: int) -> None:
    """Allow so much address space above what the process has now; nothing happens where the system knows no such limit."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
        limit = pages * resource.getpagesize() + megabytes * 2**20
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
