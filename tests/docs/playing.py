"""Pages played: their marked commands run in order in a folder of their own, their shown lines looked for in what was printed."""

import contextlib
import csv
import os
import re
import shlex
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from typer.testing import CliRunner

from litcascade.cli.app import app
from tests.docs.pages import DOCS, Block, blocks, joined

Hook = Callable[[Path], None]


@dataclass
class Player:
    """Plays pages from a folder. `instead` replaces texts in commands; `after` is done once a command has run."""

    folder: Path
    instead: Mapping[str, str] = field(default_factory=dict)
    after: Mapping[str, Hook] = field(default_factory=dict)
    printed: str = ""
    ran: list[str] = field(default_factory=list)

    def play(self, page: str) -> None:
        """Play every marked block of a page."""
        os.chdir(self.folder)
        for block in blocks(DOCS / page):
            try:
                getattr(self, f"_{block.mark or 'leave'}")(block)
            except AssertionError as error:
                raise AssertionError(f"{page}:{block.line}: {error}") from error

    def _leave(self, block: Block) -> None:
        """A block without a mark is read only."""

    def _run(self, block: Block) -> None:
        for line in joined(block.text):
            if words := shlex.split(self._replaced(line), comments=True):
                self.printed += self._command(words)
                self.ran.append(" ".join(words))
                self.after.get(" ".join(words), _nothing)(Path.cwd())

    def _file(self, block: Block) -> None:
        Path(block.given).write_text(block.text + "\n", encoding="utf-8")

    def _append(self, block: Block) -> None:
        path = Path(block.given)
        path.write_text(f"{path.read_text(encoding='utf-8')}\n{block.text}\n", encoding="utf-8")

    def _shown(self, block: Block) -> None:
        said = [_plain(line) for line in self.printed.splitlines()]
        for line in block.text.splitlines():
            if line.strip("… -"):
                start = _plain(line).removesuffix("…").strip()
                assert any(start in text for text in said), f"'{line}' was not printed by:\n{self.printed}"
        self.printed = ""

    def _person(self, block: Block) -> None:
        name, *told = block.given.split(", ")
        words = dict(part.split("=") for part in told)
        with Path(name).open(encoding="utf-8", newline="") as table:
            rows = list(csv.DictReader(table))
        waiting = {row["record_id"] for row in rows}
        assert set(words) - {"*"} <= waiting, f"{name} does not hold {sorted(set(words) - waiting)}"
        for row in rows:
            row["decision"] = words.pop(row["record_id"], words.get("*", ""))
        with Path(name).open("w", encoding="utf-8", newline="") as table:
            writer = csv.DictWriter(table, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)

    def _replaced(self, line: str) -> str:
        for old, new in self.instead.items():
            line = line.replace(old, new)
        return line

    def _command(self, words: list[str]) -> str:
        if words[0] == "cd":
            os.chdir(words[1])
            return ""
        if words[:2] == ["litcascade", "desk"]:
            return until_interrupted(words)
        if words[0] == "litcascade":
            return in_process(words[1:])
        if words[0] == "python":
            return finished([sys.executable, *words[1:]])
        return finished(words)


def in_process(words: list[str]) -> str:
    """What a command of litcascade printed; it must end well."""
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, f"litcascade {' '.join(words)}: exit {result.exit_code}: {result.exception!r}\n{result.output}"
    return result.output


def finished(words: list[str]) -> str:
    """What another program printed; it must end well."""
    result = subprocess.run(words, capture_output=True, text=True, check=False)
    assert result.returncode == 0, f"{' '.join(words)}: {result.stdout}{result.stderr}"
    return result.stdout


def until_interrupted(words: list[str]) -> str:
    """What a serving command printed until it said that Ctrl-C stops it; then it is stopped so."""
    command = [sys.executable, "-m", "litcascade", *words[1:]]
    said = ""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as running:
        assert running.stdout is not None
        for line in running.stdout:
            said += line
            if "Ctrl-C" in line:
                break
        with contextlib.suppress(urllib.error.HTTPError):  # once it answers, it listens to Ctrl-C too
            urllib.request.urlopen(re.findall(r"http://[^/\s]+/", said)[0], timeout=60)
        running.send_signal(signal.SIGINT)
        said += running.stdout.read()
    assert "closed" in said, said
    return said


def _plain(line: str) -> str:
    return " ".join(line.split())


def _nothing(folder: Path) -> None:
    """Nothing to do after this command."""
