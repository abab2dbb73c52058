"""Many full texts read in processes of their own, so that a file that crashes, hangs or eats memory harms no other."""

import gzip
import hashlib
import json
import os
import pickle
import socket
import subprocess
import sys
import time
import zlib
from collections.abc import Callable, Iterable, Iterator
from multiprocessing.connection import Connection, wait
from pathlib import Path

from litcascade import errors
from litcascade.corpora.texts import guarded_worker as answers
from litcascade.corpora.texts.files import SIZE_LIMIT, read_document, tell_format
from litcascade.errors import InputError, LitcascadeError
from litcascade.schemas import Document, DocumentState

RENEWED_AFTER = 250
START_SECONDS = 300
Reader = Callable[[Path], Document]


def read_guarded(
    paths: Iterable[Path],
    *,
    workers: int | None = None,
    seconds: float = 60,
    memory_mb: int = 2048,
    read: Reader = read_document,
) -> Iterator[tuple[Path, Document]]:
    """(Path, document) of every path, each as soon as it is read: the order is not that of `paths`.

    Each document has `seconds` and, above what the program itself takes, `memory_mb` MB of address space (where the system knows
    such a limit); one that needs more, or kills its process, is broken with the reason as its note, and the process is replaced.
    `workers` is the number of processes, by default that of the processors this program may use. They are started as programs of
    their own, so threads and open files of this one do not matter to them; closing the iterator, or Ctrl-C, ends them. `paths` is
    gone through as documents are asked for, and nothing is kept of those given out. `read` must be a function of a module.

    Raises `InputError` for limits below 1; and, while reading, what `read` raises of this program's own errors (a missing extra),
    and `LitcascadeError` where a process cannot be started.
    """
    if seconds <= 0 or memory_mb < 1 or (workers is not None and workers < 1):
        raise InputError("workers, seconds and memory_mb of the reading of full texts must be above 0")
    return _Pool(workers or _processors(), seconds, memory_mb, read).results(iter(paths))


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class _Worker:
    """One process and the document it is reading; until `deadline` it must have told something."""

    def __init__(self, task: bytes) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            self.process = subprocess.Popen(
                [sys.executable, "-P", "-c", f"from {answers.__name__} import serve; serve({theirs.fileno()})"],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(part or str(Path.cwd()) for part in sys.path)},
                start_new_session=True,
            )
        self.connection = Connection(ours.detach())
        self.path: Path | None = None
        self.ready = False
        self.deadline: float | None = time.monotonic() + START_SECONDS
        self.read = 0
        self._send(task)

    def give(self, path: Path, seconds: float) -> None:
        """Have it read a document, at once or as soon as it is ready."""
        self.path = path
        if self.ready:
            self.begin(seconds)

    def begin(self, seconds: float) -> None:
        """Send the document that waits; its time begins now."""
        if self.path is not None:
            self.deadline = time.monotonic() + seconds
            self._send(str(self.path).encode("utf-8", "surrogateescape"))

    def _send(self, message: bytes) -> None:
        try:
            self.connection.send_bytes(message)
        except OSError:
            return  # it has died; the end of its answers says so

    def end(self) -> int:
        """Kill it and give its exit code: negative for a signal, ours (-9) where it was alive."""
        code = self.process.poll()
        if code is None:
            self.process.kill()
        self.connection.close()
        return self.process.wait() if code is None else code


class _Pool:
    def __init__(self, size: int, seconds: float, memory_mb: int, read: Reader) -> None:
        self.size, self.seconds, self.memory_mb = size, seconds, memory_mb
        self.task = pickle.dumps((read, seconds, memory_mb))
        self.workers: list[_Worker] = []

    def results(self, paths: Iterator[Path]) -> Iterator[tuple[Path, Document]]:
        try:
            while True:
                self._hand_out(paths)
                busy = [worker for worker in self.workers if worker.path is not None]
                if not busy:
                    return
                for worker in self._answering(busy):
                    path, document = worker.path, self._answer(worker)
                    if document is not None and path is not None:
                        worker.path = worker.deadline = None
                        yield path, document
        finally:
            for worker in self.workers:
                worker.end()
            self.workers.clear()

    def _hand_out(self, paths: Iterator[Path]) -> None:
        """Give every worker that is free the next path; start workers while there are paths and room."""
        idle = [worker for worker in self.workers if worker.path is None]
        while idle or len(self.workers) < self.size:
            path = next(paths, None)
            if path is None:
                return
            worker = idle.pop() if idle else None
            if worker is not None and worker.process.poll() is not None:
                self._drop(worker)
                worker = None
            if worker is None:
                worker = _Worker(self.task)
                self.workers.append(worker)
            worker.give(path, self.seconds)

    def _answering(self, busy: list[_Worker]) -> list[_Worker]:
        """The workers with something to tell, or whose time is up."""
        deadlines = [worker.deadline for worker in busy if worker.deadline is not None]
        patience = max(min(deadlines) - time.monotonic(), 0) if deadlines else None
        telling = wait([worker.connection for worker in busy], patience)
        now = time.monotonic()
        late = [worker for worker in busy if worker.deadline is not None and worker.deadline <= now]
        return [worker for worker in busy if worker.connection in telling or worker in late]

    def _answer(self, worker: _Worker) -> Document | None:
        """The document a worker has come to; None where it has only now begun."""
        path = worker.path or Path()
        try:
            if not worker.connection.poll():
                self._drop(worker)
                if not worker.ready:
                    raise LitcascadeError(f"a process that reads full texts did not start within {START_SECONDS} s")
                return stub(path, f"took longer than {self.seconds:g} s")
            answer = worker.connection.recv_bytes()
        except (EOFError, OSError):
            return self._died(worker, path)
        kind, content = answer[:1], answer[1:]
        if kind == answers.READY:
            worker.ready = True
            worker.begin(self.seconds)
            return None
        worker.read += 1
        if kind == answers.RAISED:
            name, message = json.loads(content)
            error = getattr(errors, name, LitcascadeError)
            raise error.__new__(error, message)
        if kind == answers.MEMORY or worker.read >= RENEWED_AFTER:
            self._drop(worker)
        if kind == answers.MEMORY:
            return stub(path, f"needed more than {self.memory_mb} MB")
        if kind == answers.FAULT:
            return stub(path, f"the parser failed: {content.decode('utf-8', 'replace')}")
        return Document.model_validate_json(content)

    def _died(self, worker: _Worker, path: Path) -> Document:
        worker.process.wait()
        code = self._drop(worker)
        if not worker.ready:
            raise LitcascadeError(f"a process that reads full texts could not be started (exit code {code})")
        if code < 0:
            memory = ", perhaps for want of memory" if code == -9 else ""
            return stub(path, f"the parser died (signal {-code}{memory})")
        return stub(path, f"the parser ended (exit code {code})")

    def _drop(self, worker: _Worker) -> int:
        self.workers.remove(worker)
        return worker.end()


def stub(path: Path, note: str) -> Document:
    """A broken document that says why; its id is the digest of the file's (unpacked) bytes, as of any other."""
    whole, head = hashlib.sha256(), b""
    try:
        with gzip.open(path) if path.suffix.lower() == ".gz" else path.open("rb") as handle:
            size = 0
            while size <= SIZE_LIMIT and (part := handle.read(2**20)):
                whole.update(part)
                head = head or part
                size += len(part)
    except (OSError, EOFError, zlib.error):
        whole, head = hashlib.sha256(), b""
    return Document(
        document_id=whole.hexdigest()[:32],
        record_id="",
        path=path.name,
        format=tell_format(head, path),
        state=DocumentState.BROKEN,
        note=note,
    )
