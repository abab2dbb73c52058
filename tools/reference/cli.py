"""docs/reference/cli.md: every command with its arguments and options, from the tree of commands itself."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

import typer

from litcascade.cli.app import app
from reference.text import code, table

HEAD = """# Commands and options

Made from the code by `python tools/make_docs.py`. What the commands are for, in the order of a review, stands in
[Commands](../commands.md), with exit codes and the tables that are imported. `--help` after any command prints the same.
"""
PLACES: dict[Any, str] = {Path: "PATH", int: "NUMBER", float: "NUMBER", str: "TEXT"}


def page() -> str:
    """The page of commands, groups last, in the order of `litcascade --help`."""
    root = typer.main.get_command(app)
    return HEAD + "".join(_section(names, command) for names, command in walk(root, ("litcascade",)) if names[1:])


def walk(command: Any, names: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    """A command and all below it, each with its full name."""
    yield names, command
    for name, below in getattr(command, "commands", {}).items():
        if not below.hidden:
            yield from walk(below, (*names, name))


def _section(names: tuple[str, ...], command: Any) -> str:
    title = " ".join(names)
    text = f"\n{'#' * len(names)} {title}\n\n{_sentences(command.help or '')}\n"
    if hasattr(command, "commands"):
        return text
    hints = get_type_hints(command.callback)
    arguments = [part for part in command.params if not _is_option(part)]
    options = [part for part in command.params if _is_option(part)]
    text += f"\n    {' '.join([title, *(['[options]'] if options else []), *(_usage(part, hints) for part in arguments)])}\n"
    if arguments:
        rows = [[code(_name(part, hints)), part.help or "", _default(part)] for part in arguments]
        text += "\n" + table(["argument", "what it is", "default"], rows)
    if options:
        rows = [[_spelled(part, hints), _told(part, hints), _default(part)] for part in options]
        text += "\n" + table(["option", "what it does", "default"], rows)
    return text


def _sentences(text: str) -> str:
    return " ".join(text.split())


def _is_option(part: Any) -> bool:
    return bool(part.opts and part.opts[0].startswith("-"))


def _name(part: Any, hints: dict[str, Any]) -> str:
    return str(part.metavar or part.name.strip("_").upper()) + ("…" if _repeats(hints[part.name]) and not part.metavar else "")


def _usage(part: Any, hints: dict[str, Any]) -> str:
    name = _name(part, hints)
    return name if part.required or name.startswith("[") else f"[{name}]"


def _spelled(part: Any, hints: dict[str, Any]) -> str:
    names = [*part.opts, *part.secondary_opts]
    place = "" if part.is_flag else f" {part.metavar or _place(hints[part.name])}"
    return ", ".join(code(name + place) for name in names)


def _place(hint: Any) -> str:
    kinds = [kind for kind in _leaves(hint) if isinstance(kind, type) and kind in PLACES]
    return PLACES[kinds[0]] if kinds else "TEXT"


def _leaves(hint: Any) -> Iterator[Any]:
    """The plain types and choices that a hint is made of."""
    inner = () if get_origin(hint) is Literal else get_args(hint)
    if not inner:
        yield hint
    for part in inner:
        yield from _leaves(part)


def _repeats(hint: Any) -> bool:
    return get_origin(hint) is list or any(get_origin(part) is list for part in get_args(hint))


def _told(part: Any, hints: dict[str, Any]) -> str:
    words = [part.help or ""]
    words += [
        f"One of {', '.join(map(code, get_args(kind)))}." for kind in _leaves(hints[part.name]) if get_origin(kind) is Literal
    ]
    if part.multiple and "repeat" not in words[0]:
        words.append("May be repeated.")
    return " ".join(words)


def _default(part: Any) -> str:
    if part.required:
        return "required"
    if isinstance(part.show_default, str):
        return str(part.show_default)
    if part.default in (None, False, "", []) or callable(part.default):
        return "–"
    return code(f"{part.default:g}" if isinstance(part.default, float) else str(part.default))
