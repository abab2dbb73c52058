import gzip
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from litcascade.corpora.texts import guarded, read_document
from litcascade.corpora.texts.guarded import read_guarded
from litcascade.errors import InputError, LitcascadeError, MissingExtraError
from litcascade.schemas import Document, DocumentState


def behaved(path: Path) -> Document:
    """A reader that does what the file's name says, and notes the process it ran in."""
    word = path.stem.partition("-")[0]
    if word == "hang":
        time.sleep(600)
    if word == "eat":
        return read_document(path).model_copy(update={"title": str(len(bytearray(2**33)))})
    if word == "die":
        os.kill(os.getpid(), signal.SIGSEGV)
    if word == "leave":
        os._exit(3)
    if word == "fail":
        raise ValueError("a fault of the parser")
    if word == "extra":
        raise MissingExtraError("reading this", "thing")
    return read_document(path).model_copy(update={"title": str(os.getpid())})


def hang_and_tell(path: Path) -> Document:
    """A reader that writes down its process and never comes back."""
    path.with_suffix(".pid").write_text(str(os.getpid()), encoding="ascii")
    time.sleep(600)
    raise AssertionError


def files(folder: Path, *names: str) -> list[Path]:
    for name in names:
        (folder / name).write_text(f"Words of the report {name}.", encoding="utf-8")
    return [folder / name for name in names]


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()[0] != "Z"


def gone_soon(pid: int) -> bool:
    for _ in range(100):
        if not alive(pid):
            return True
        time.sleep(0.1)
    return False


def test_every_document_comes_once_and_is_what_the_reader_makes_of_it(tmp_path: Path) -> None:
    paths = files(tmp_path, *(f"{number}.txt" for number in range(7)))
    paths += [tmp_path / "missing.txt", tmp_path / "packed.txt.gz"]
    paths[-1].write_bytes(gzip.compress(b"Words in a packed file."))
    found = list(read_guarded(paths, workers=2))
    assert sorted(path for path, _ in found) == sorted(paths)
    assert dict(found) == {path: read_document(path) for path in paths}


def test_a_bad_file_is_broken_with_its_reason_and_no_other_is_touched(tmp_path: Path) -> None:
    good = [f"good-{number}.txt" for number in range(4)]
    paths = files(tmp_path, "hang.txt", good[0], "die.txt", good[1], "eat.txt", good[2], "leave.txt", "fail.txt", good[3])
    found = {path.name: document for path, document in read_guarded(paths, workers=2, seconds=6, memory_mb=512, read=behaved)}
    assert {name: found[name].note for name in found if name not in good} == {
        "hang.txt": "took longer than 6 s",
        "die.txt": "the parser died (signal 11)",
        "eat.txt": "needed more than 512 MB",
        "leave.txt": "the parser ended (exit code 3)",
        "fail.txt": "the parser failed: ValueError: a fault of the parser",
    }
    assert all(found[name].state is DocumentState.BROKEN for name in found if name not in good)
    assert all("Words of the report" in found[name].text() for name in good)


def test_a_broken_document_is_known_by_its_bytes_as_any_other(tmp_path: Path) -> None:
    plain, packed = tmp_path / "die.nxml", tmp_path / "die-packed.nxml.gz"
    plain.write_text("<article><body><p>Words.</p></body></article>", encoding="utf-8")
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    for path, document in read_guarded([plain, packed], workers=1, read=behaved):
        sound = read_document(path)
        assert (document.document_id, document.path, document.format) == (sound.document_id, sound.path, "jats")


def test_a_missing_extra_is_raised_as_it_is_without_guard(tmp_path: Path) -> None:
    with pytest.raises(MissingExtraError, match=r"reading this needs the extra \[thing\]"):
        list(read_guarded(files(tmp_path, "extra.txt"), read=behaved))


def test_a_process_that_cannot_start_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(LitcascadeError, match="could not be started"):
        list(read_guarded(files(tmp_path, "a.txt"), workers=1))


def test_paths_are_taken_as_documents_are_asked_for(tmp_path: Path) -> None:
    taken: list[Path] = []

    def slowly() -> Iterator[Path]:
        for path in files(tmp_path, *(f"{number}.txt" for number in range(40))):
            taken.append(path)
            yield path

    results = read_guarded(slowly(), workers=2)
    assert not taken
    next(results)
    assert len(taken) <= 4
    assert len(list(results)) == 39


def test_closing_the_iterator_ends_the_processes(tmp_path: Path) -> None:
    results = read_guarded(files(tmp_path, "good-1.txt", "hang-1.txt", "hang-2.txt"), workers=2, read=behaved)
    _, document = next(results)
    pid = int(document.title or "")
    assert alive(pid)
    results.close()  # type: ignore[attr-defined]
    assert not alive(pid)


def test_a_process_is_renewed_now_and_then(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guarded, "RENEWED_AFTER", 2)
    paths = files(tmp_path, *(f"good-{number}.txt" for number in range(5)))
    assert len({document.title for _, document in read_guarded(paths, workers=1, read=behaved)}) == 3


def test_threads_and_an_open_store_do_not_matter(tmp_path: Path) -> None:
    stop = threading.Event()
    thread = threading.Thread(target=stop.wait)
    thread.start()
    try:
        with duckdb.connect(str(tmp_path / "open.duckdb")) as store:
            store.execute("create table t as select 1 as one")
            found = list(read_guarded(files(tmp_path, "a.txt", "die.txt"), read=behaved))
            assert store.execute("select one from t").fetchall() == [(1,)]
    finally:
        stop.set()
        thread.join()
    assert len(found) == 2


def test_ctrl_c_ends_reader_and_processes(tmp_path: Path) -> None:
    script = textwrap.dedent("""
        import sys
        from pathlib import Path
        from litcascade.corpora.texts.guarded import read_guarded
        from tests.corpora.test_texts_guarded import hang_and_tell
        list(read_guarded([Path(sys.argv[1])], workers=1, read=hang_and_tell))
    """)
    path, told = tmp_path / "a.txt", tmp_path / "a.pid"
    path.write_text("words", encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(part for part in sys.path if part)}
    with subprocess.Popen(
        [sys.executable, "-c", script, str(path)], env=environment, stderr=subprocess.PIPE, text=True
    ) as parent:
        for _ in range(600):
            if told.exists() and told.read_text(encoding="ascii"):
                break
            time.sleep(0.1)
        pid = int(told.read_text(encoding="ascii"))
        parent.send_signal(signal.SIGINT)
        _, errors = parent.communicate(timeout=60)
    assert errors.count("KeyboardInterrupt") == 1
    assert gone_soon(pid)


@pytest.mark.parametrize("limits", [{"seconds": 0}, {"memory_mb": 0}, {"workers": 0}])
def test_limits_below_one_are_refused_at_once(limits: dict[str, int]) -> None:
    with pytest.raises(InputError, match="above 0"):
        read_guarded([], **limits)  # type: ignore[arg-type]
