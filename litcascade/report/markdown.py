"""A page as Markdown: figures by their data, text from papers inert in every renderer."""

import re
from collections.abc import Sequence

from litcascade.report.page import Block, Figure, Folded, Page, Points, Prose, Verbatim
from litcascade.report.tables import Table, cell, inert

_SIGNS = re.compile(r"([\\`*_{}\[\]<>#|~!$])")


def page_markdown(page: Page) -> str:
    """The whole file; no markup of a title, a reason or a name is markup in it, and nothing in it is loaded."""
    parts = [f"# {_text(page.title)}", *(_text(line) for line in page.lead)]
    for section in page.sections:
        parts.append(f"## {_text(section.title)}")
        parts += [_block(block) for block in section.blocks]
    return "\n\n".join(parts) + "\n"


def _block(block: Block) -> str:
    if isinstance(block, Table):
        return _table(block)
    if isinstance(block, Folded):
        return _table(block.table)
    if isinstance(block, Figure):
        told = f"*{_text(block.title)}.* {_text(block.caption)} (The drawing is in the HTML report; its data:)"
        return f"{told}\n\n{_table(block.data)}"
    if isinstance(block, Points):
        return "\n".join(f"- {_text(item)}" for item in block.items)
    if isinstance(block, Verbatim):
        return f"### {_text(block.title)}\n\n{_fenced(block.text)}"
    assert isinstance(block, Prose)
    return {"plain": "", "warning": "**Warning.** ", "copy": "> "}[block.kind] + _text(block.text)


def _table(table: Table) -> str:
    lines = [f"### {_text(table.title)}", "", _row(table.header), _row(["---"] * len(table.header), plain=True)]
    lines += [_row([cell(value) for value in row]) for row in table.rows]
    return "\n".join([*lines, "", *(f"- {_text(note)}" for note in table.notes)]).rstrip()


def _row(values: Sequence[str], *, plain: bool = False) -> str:
    return "| " + " | ".join(value if plain else _text(value) for value in values) + " |"


def _text(text: str) -> str:
    """Signs of Markdown and HTML as themselves; addresses are no links."""
    safe = _SIGNS.sub(r"\\\1", inert(str(text))).replace("&", "&amp;").replace("\\<", "&lt;").replace("\\>", "&gt;")
    return re.sub(r"(?i)(https?|ftp|www)(:|\.)(?=\S)", r"\1&#8203;\2", safe).strip()


def _fenced(text: str) -> str:
    """A block that the text itself cannot close."""
    longest = max((len(found) for found in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    body = "\n".join(inert(line) for line in text.splitlines())
    return f"{fence}text\n{body}\n{fence}"
