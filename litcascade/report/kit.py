"""Rows of plain values as Markdown, CSV or LaTeX, text made inert for each."""

import csv
import io
from collections.abc import Callable, Sequence

from litcascade.errors import InputError
from litcascade.report.tables import Table, cell

_LATEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
}  # fmt: skip


def markdown(tables: Sequence[Table]) -> str:
    """Tables as Markdown; a title is a heading, notes are a list."""
    parts = []
    for table in tables:
        head = [f"## {_md(table.title)}", "", _row(table.header), _row(["---"] * len(table.header))]
        parts.append("\n".join([*head, *(_row(row) for row in table.rows), "", *(f"- {_md(note)}" for note in table.notes)]))
    return "\n\n".join(parts).rstrip() + "\n"


def _row(values: Sequence[object]) -> str:
    return "| " + " | ".join(_md(cell(value)) for value in values) + " |"


def _md(text: str) -> str:
    safe = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return safe.replace("|", "\\|").replace("\n", " ")


def comma_separated(tables: Sequence[Table]) -> str:
    """Tables one below the other, each with its title on a line of its own; numbers unrounded, undefined ones blank."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    for number, table in enumerate(tables):
        if number:
            writer.writerow([])
        writer.writerow([table.title])
        writer.writerow(table.header)
        writer.writerows([["" if value is None else value for value in row] for row in table.rows])
        writer.writerows([[f"note: {note}"] for note in table.notes])
    return out.getvalue()


def latex(tables: Sequence[Table]) -> str:
    """Tables as `tabular` in `table` environments (booktabs)."""
    parts = []
    for table in tables:
        body = "\n".join(" & ".join(_tex(cell(value)) for value in row) + r" \\" for row in table.rows)
        notes = "\n".join(rf"\par\footnotesize {_tex(note)}" for note in table.notes)
        lines = [
            r"\begin{table}", rf"\caption{{{_tex(table.title)}}}",
            rf"\begin{{tabular}}{{{'l' * len(table.header)}}}", r"\toprule",
            " & ".join(_tex(name) for name in table.header) + r" \\", r"\midrule", body, r"\bottomrule", r"\end{tabular}", notes,
            r"\end{table}",
        ]  # fmt: skip
        parts.append("\n".join(line for line in lines if line))
    return "\n\n".join(parts) + "\n"


def _tex(text: str) -> str:
    return "".join(_LATEX.get(char, char) for char in text)


FORMATS: dict[str, Callable[[Sequence[Table]], str]] = {".md": markdown, ".csv": comma_separated, ".tex": latex}


def as_file(tables: Sequence[Table], name: str) -> str:
    """The tables in the format that the file's ending names."""
    for ending, write in FORMATS.items():
        if name.lower().endswith(ending):
            return write(tables)
    raise InputError(f"{name}: the ending says the format; use {', '.join(FORMATS)}")
