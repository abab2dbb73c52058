"""The post box of a job: it stands beside the run and keeps the job's folder for workers that do not see that disk.

A worker takes a shard with all that is known of it, and posts every part it writes; so nothing needs to be shared between nodes
but the network, and whoever takes a shard up after a lost worker goes on where the parts stop.
"""

import contextlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from litcascade.errors import InputError
from litcascade.pipeline.on_ray.leftover import ASIDE
from litcascade.pipeline.shards.files import write_json, write_whole
from litcascade.pipeline.shards.job import JobFolder
from litcascade.pipeline.shards.parts import part_files, verified

TIMES = 3  # times that a shard is taken without a step forward
Files = dict[str, bytes]  # by path inside the job's folder


class Box:
    """Hands out the files of shards, writes what comes back into the job's folder, and passes on the word to stop."""

    def __init__(self, path: str) -> None:
        self.folder = JobFolder(Path(path))
        self._stop = ""
        self._shut = False
        self._tally = self.folder.path / "taken.json"  # on the disk, for Ray may start the box again
        self._taken: dict[str, tuple[list[str], int]] = _read_tally(self._tally)

    def there(self) -> bool:
        """Whether the job's folder is on this machine."""
        return (self.folder.path / "job.json").is_file()

    def take(self, number: int) -> tuple[str, str, Files]:
        """All that a worker of a shard needs; or `stopped` or `failed` with the reason, and no files.

        A shard that was taken several times without a part to show for it loses its workers, and is given up.
        """
        if self._stop:
            return "stopped", self._stop, {}
        folder = self.folder
        out = folder.out(number)
        parts = part_files(out)
        if self._count(number, [path.name for path in parts]) > TIMES:
            return "failed", f"its worker was lost {TIMES} times without a step forward (out of memory?)", {}
        paths = [folder.path / "job.json", folder.shard(number), folder.replies(number), *parts, *out.glob(f"part-*{ASIDE}")]
        paths += [path for path in folder.protocol.rglob("*") if path.is_file()]
        return "", "", {str(path.relative_to(folder.path)): path.read_bytes() for path in paths if path.is_file()}

    def _count(self, number: int, parts: list[str]) -> int:
        before, times = self._taken.get(str(number), ([], 0))
        times = times + 1 if parts == before else 1
        self._taken[str(number)] = (parts, times)
        with contextlib.suppress(OSError):  # a full disk is told when a part comes
            write_json(self._tally, self._taken)
        return times

    def put(
        self,
        number: int,
        parts: Mapping[str, bytes],
        receipt: bytes | None,
        gone: Sequence[str],
        aside: Mapping[str, bytes] | None = None,
    ) -> str:
        """Keep parts, then the receipt, then let go of parts that were joined into others; returns the word to stop, if any.

        `aside` holds parts that the worker found damaged, by their names when they were whole: they are kept as `….unreadable`,
        unless the one here is whole. A box that is shut raises `InputError`.
        """
        if self._shut:
            raise InputError("the run has ended, and takes no more parts")
        out = self.folder.out(number)
        out.mkdir(parents=True, exist_ok=True)
        for name, content in parts.items():
            path = out / _plain(name)
            if verified(path) is None:
                write_whole(path, content)
        for name, content in (aside or {}).items():
            path = out / _plain(name)
            if verified(path) is None:
                write_whole(path.with_name(f"{name}{ASIDE}"), path.read_bytes() if path.is_file() else content)
                path.unlink(missing_ok=True)
        if receipt is not None:
            write_whole(self.folder.receipt(number), receipt)
        for name in gone:
            (out / _plain(name)).unlink(missing_ok=True)
        return self._stop

    def stop(self, words: str) -> None:
        """Tell every worker to end at its next word with the box."""
        self._stop = words

    def word(self) -> str:
        """The word to stop, if any."""
        return self._stop

    def shut(self) -> None:
        """Take nothing more: what comes now would not be merged."""
        self._shut = True
        self._stop = self._stop or "stopped: the run has ended"


def _plain(name: str) -> str:
    if not name.startswith("part-") or Path(name).name != name:
        raise ValueError(f"'{name}' is no name of a part")
    return name


def _read_tally(path: Path) -> dict[str, tuple[list[str], int]]:
    try:
        return {number: (parts, times) for number, (parts, times) in json.loads(path.read_text()).items()}
    except (OSError, ValueError):
        return {}
