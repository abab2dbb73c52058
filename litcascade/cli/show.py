"""Printing: tables for people, JSON for scripts."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import typer
from pydantic import BaseModel

from litcascade.report import Table, render
from litcascade.store import network_disk_words


def print_tables(tables: Sequence[Table]) -> None:
    """Print tables, if any."""
    if tables:
        typer.echo(render(tables), nl=False)


def print_json(content: Any) -> None:
    """Print JSON, indented; control signs in texts are escaped by JSON itself."""
    typer.echo(json.dumps(content, indent=2, ensure_ascii=True, default=_plain))


def warn_of_disk(folder: Path) -> None:
    """Say on stderr that a review lies where two writers may not notice each other, if it does."""
    words = network_disk_words(folder)
    if words:
        typer.echo(f"WARNING: {words}", err=True)


def _plain(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if hasattr(value, "__dataclass_fields__"):
        return {name: getattr(value, name) for name in value.__dataclass_fields__}
    return str(value)
