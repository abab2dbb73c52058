"""A page as one HTML file that loads nothing and runs nothing: text escaped, styles inside, figures as inline SVG."""

import re
from collections.abc import Sequence
from html import escape
from typing import Any

from litcascade.report.page import Block, Figure, Folded, Page, Points, Prose, Section, Verbatim
from litcascade.report.tables import Table, cell, inert

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
SHORT = 22  # letters that stay on one line
STYLE = """
:root{color-scheme:light}
*{box-sizing:border-box}
body{font:16px/1.5 system-ui,sans-serif;color:#1a1a1a;background:#fff;margin:0 auto;padding:1.5rem 1rem 4rem;max-width:66rem}
h1{font-size:1.7rem;line-height:1.2;margin:.2rem 0 .6rem}
h2{font-size:1.3rem;border-bottom:2px solid #0072b2;padding-bottom:.2rem;margin:2.6rem 0 1rem}
h3{font-size:1.02rem;margin:1.6rem 0 .4rem}
p{margin:.5rem 0}
p,h1,h2,h3,li,figcaption,summary,code{overflow-wrap:anywhere}
nav ul{columns:14rem;padding-left:1.2rem;margin:.4rem 0}
a{color:#005a8f}
a:focus-visible,summary:focus-visible,.wide:focus-visible{outline:3px solid #d55e00;outline-offset:2px}
.lead p{margin:.15rem 0;color:#3c3c3c}
.wide{overflow-x:auto;margin:.3rem 0}
table{border-collapse:collapse;font-size:.86rem;min-width:40%}
th,td{padding:.25rem .6rem;text-align:left;vertical-align:top;border-bottom:1px solid #d8d8d8;overflow-wrap:break-word}
td{min-width:2.5rem;max-width:26rem}
thead th{background:#eef3f7;border-bottom:2px solid #8aa4b5}
td.s{white-space:nowrap}
td.l{min-width:13rem}
td.n,th.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
ul.notes{font-size:.84rem;color:#3c3c3c;margin:.3rem 0 .8rem;padding-left:1.2rem}
.warning{border-left:6px solid #d55e00;background:#fdf0e8;padding:.6rem .8rem;font-weight:600}
.copy{border:1px solid #8aa4b5;background:#f6f9fb;padding:.8rem 1rem}
figure{margin:1rem 0}
figure svg{width:100%;min-width:40rem;max-width:54rem;height:auto;display:block}
figcaption{font-size:.86rem;color:#3c3c3c}
details{margin:.4rem 0}
summary{cursor:pointer;padding:.2rem 0;color:#005a8f}
pre{white-space:pre-wrap;overflow-wrap:anywhere;background:#f5f5f5;padding:.8rem;font-size:.8rem;line-height:1.4}
@media (max-width:30rem){body{font-size:15px}td{max-width:16rem}}
@page{margin:16mm 14mm}
@media print{
body{max-width:none;padding:0;font-size:10.5pt}
nav{display:none}
h2{break-after:avoid}h3,figcaption{break-after:avoid}
figure svg,tr{break-inside:avoid}
.wide{overflow:visible}
figure svg{min-width:0;max-width:100%;max-height:23cm}
table{font-size:8pt}td,td.s,td.l,td.n{max-width:none;min-width:0;white-space:normal;padding:.15rem .3rem}
summary{color:#1a1a1a;list-style:none}
details::details-content{content-visibility:visible;block-size:auto}
a{color:inherit;text-decoration:none}
}
"""


def page_html(page: Page) -> str:
    """The whole file. What comes from papers and people is text in it, never markup; no script, no link outside."""
    anchors = _anchors(page.sections)
    links = "".join(f'<li><a href="#{key}">{_text(section.title)}</a></li>' for key, section in anchors.items())
    lead = "".join(f"<p>{_text(line)}</p>" for line in page.lead)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n<meta name="referrer" content="no-referrer">\n'
        f"<title>{_text(page.title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        f'<header><h1>{_text(page.title)}</h1><div class="lead">{lead}</div></header>\n'
        f'<nav aria-label="Contents"><ul>{links}</ul></nav>\n<main>\n'
        + "\n".join(_section(key, section) for key, section in anchors.items())
        + "\n</main>\n</body>\n</html>\n"
    )


def _anchors(sections: Sequence[Section]) -> dict[str, Section]:
    """Sections by an id that each has alone."""
    found: dict[str, Section] = {}
    for section in sections:
        key = section.anchor
        found[key if key not in found else f"{key}-{len(found)}"] = section
    return found


def _section(key: str, section: Section) -> str:
    blocks = "\n".join(_block(block) for block in section.blocks)
    return f'<section id="{key}"><h2>{_text(section.title)}</h2>\n{blocks}\n</section>'


def _block(block: Block) -> str:
    if isinstance(block, Table):
        return f"<h3>{_text(block.title)}</h3>\n{_table(block)}"
    if isinstance(block, Folded):
        return _details(f"{block.table.title} ({len(block.table.rows)} rows)", _table(block.table))
    if isinstance(block, Figure):
        caption = f"<figcaption><strong>{_text(block.title)}.</strong> {_words(block.caption)}</figcaption>"
        drawing = f'<div class="wide" tabindex="0" role="region" aria-label="{_text(block.title)}">{block.svg}</div>'
        return f"<figure>{drawing}{caption}{_details('Data', _table(block.data))}</figure>"
    if isinstance(block, Verbatim):
        return _details(block.title, f"<pre>{_verbatim(block.text)}</pre>")
    if isinstance(block, Points):
        return "<ul>" + "".join(f"<li>{_words(item)}</li>" for item in block.items) + "</ul>"
    assert isinstance(block, Prose)
    kind = {"plain": "", "warning": ' class="warning" role="alert"', "copy": ' class="copy"'}[block.kind]
    return f"<p{kind}>{_words(block.text)}</p>"


def _details(summary: str, inside: str) -> str:
    return f"<details><summary>{_text(summary)}</summary>{inside}</details>"


def _table(table: Table) -> str:
    right = numeric_columns(table)
    head = "".join(
        f'<th scope="col"{_kind(is_number)}>{_text(name)}</th>' for name, is_number in zip(table.header, right, strict=True)
    )
    rows = "\n".join(f"<tr>{''.join(_cell(v, r) for v, r in zip(row, right, strict=True))}</tr>" for row in table.rows)
    notes = "".join(f"<li>{_words(note)}</li>" for note in table.notes)
    label = _text(table.title)
    return (
        f'<div class="wide" tabindex="0" role="region" aria-label="{label}"><table aria-label="{label}">'
        f"<thead><tr>{head}</tr></thead>\n<tbody>{rows}</tbody></table></div>"
        + (f'<ul class="notes">{notes}</ul>' if notes else "")
    )


def numeric_columns(table: Table) -> list[bool]:
    """Which columns hold numbers alone (undefined ones aside) and at least one."""
    columns: list[Sequence[Any]] = [[row[place] for row in table.rows] for place in range(len(table.header))]
    return [
        any(value is not None for value in column) and all(_is_number(value) or value is None for value in column)
        for column in columns
    ]


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _kind(is_number: bool) -> str:
    return ' class="n"' if is_number else ""


def _cell(value: Any, right: bool) -> str:
    """A cell; a number carries its unrounded value in `data-value`."""
    exact = f' data-value="{value!r}"' if _is_number(value) else ""
    shown = cell(value)
    kind = _kind(right) or (' class="s"' if len(shown) <= SHORT else ' class="l"')
    return f"<td{kind}{exact}>{_text(shown)}</td>"


def _text(text: str) -> str:
    return escape(inert(str(text)), quote=True)


def _words(text: str) -> str:
    """Text whose `commands` are set as code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", _text(text))


def _verbatim(text: str) -> str:
    return "\n".join(_text(line) for line in text.splitlines())
