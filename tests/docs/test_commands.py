"""Every `litcascade …` line of every page is a command that there is, with options that there are."""

import re
from pathlib import Path
from typing import Any

import pytest
import typer

from litcascade.cli.app import app
from tests.docs.pages import MADE, ROOT, Command, commands, pages

TREE: Any = typer.main.get_command(app)
PLACEHOLDER = re.compile(r"^[A-Z][A-Z_]*$")  # NAME, DIR, FILE …: anything may stand there

UNSAID = ("MissingParameter", "BadOptionUsage")  # an argument that is not given; an option without its value


def fault(words: tuple[str, ...], *, whole: bool) -> str | None:
    """What is wrong with a command line, without running it; in a sentence arguments may be left unsaid."""
    command, names, rest = TREE, ["litcascade"], list(words)
    while hasattr(command, "commands") and rest and not rest[0].startswith("-"):
        name = rest.pop(0)
        if name not in command.commands:
            return f"there is no command '{' '.join([*names, name])}'"
        command, names = command.commands[name], [*names, name]
    if rest in (["--help"], ["--version"]) or (not rest and hasattr(command, "commands")):
        return None
    try:
        command.make_context(" ".join(names), ["1" if PLACEHOLDER.match(word) else word for word in rest])
    except Exception as error:
        told = getattr(error, "format_message", None)
        if told is None:
            raise
        if not whole and type(error).__name__ in UNSAID:
            return None
        return f"{' '.join(names)}: {told()}"
    return None


def every_command() -> list[Command]:
    return [command for page in pages() if page not in MADE for command in commands(page)]


def test_every_command_on_every_page_is_one_the_program_has() -> None:
    found = every_command()
    faults = [f"{c.where}: {c.words}: {said}" for c in found if (said := fault(c.words, whole=c.whole))]
    assert not faults, "\n".join(faults)
    assert len([c for c in found if c.whole]) > 60
    assert len([c for c in found if not c.whole]) > 60


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("rune", "no command"),
        ("bench rum", "no command"),
        ("run --fast", "such option"),
        ("import", "Missing argument"),
        ("amend --author Ada", "Missing option"),
        ("plan --recall", "requires an argument"),
        ("plan --recall much", "number"),
        ("dedup twice", "unexpected extra"),
    ],
)
def test_a_command_that_is_wrong_is_told(line: str, said: str) -> None:
    told = fault(tuple(line.split()), whole=True)
    assert told is not None
    assert said.casefold() in told.casefold()


@pytest.mark.parametrize("line", ["import", "export queue", "plan --draw", "bench"])
def test_in_a_sentence_arguments_may_be_left_unsaid(line: str) -> None:
    assert fault(tuple(line.split()), whole=False) is None


def test_every_command_has_its_place_on_the_page_of_commands() -> None:
    text = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    missing = [name for name, command in TREE.commands.items() if not command.hidden and f"`litcascade {name}" not in text]
    assert not missing


def test_commands_are_found_in_blocks_and_in_sentences(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.docs.pages.ROOT", tmp_path)
    page = tmp_path / "page.md"
    page.write_text(
        "Say `litcascade run` or\n\n    .venv/bin/litcascade demo   # all\n    python x && litcascade metrics \\\n      1 2 3 4 > out\n\n"
        "```toml\nlitcascade = 1\n```\n\n```sh\nlitcascade status\n```\n",
        encoding="utf-8",
    )
    assert [(c.words, c.whole) for c in commands(page)] == [
        (("demo",), True), (("metrics", "1", "2", "3", "4"), True), (("status",), True), (("run",), False),
    ]  # fmt: skip
