"""Numbers of real trials extracted on the small embedded model, their quotes checked; prints the tables of docs/extraction.md.

usage: trials.py FOLDER [N] [CORPORA]      (N: 12; CORPORA: ../shared/corpora beside the checkout)

Of the trials of `rct_numeric` the N shortest that have a text, each with up to three of its annotated comparisons: outcome, both
arms and the type of the outcome are given, the numbers of each arm are asked for (binary: events and totals; continuous: means,
standard deviations, group sizes), one comparison a call. Each trial is a review of its own in FOLDER. Stop it and run it again:
it goes on where it stopped. Nothing of the corpora is kept in the project.
"""

import asyncio
import json
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from litcascade.cli.progress import ProgressLine
from litcascade.corpora.sets import SETS
from litcascade.corpora.sets.rct_numeric import NUMBERS
from litcascade.eval.field_support import SUPPORTED
from litcascade.eval.fields import FieldCounts, Pair, count_field
from litcascade.judges import normalised_match
from litcascade.pipeline.corpus import read_set
from litcascade.pipeline.importing import record_row
from litcascade.pipeline.review import Review, open_review
from litcascade.pipeline.run import run_review
from litcascade.pipeline.texts import insert_documents
from litcascade.report import Table, render
from litcascade.schemas import Document, FieldSpec, Record

COMPARISONS = 3
SEED, REPEATS = 20261130, 2000
PROTOCOL = """
[review]
title = "Numeric outcomes of a randomised trial"
question = "What are the numeric results of this randomised trial?"
[[criteria]]
id = "I1"
kind = "include"
text = "A randomised trial."
[models.small]
backend = "embedded"
model = "qwen2.5-coder-1.5b"
context = 12288
concurrency = 1
[readers.extractor]
model = "small"
[stages.extraction]
readers = ["extractor"]
calls = "field"
"""
GROUP = """
[[fields]]
name = {name}
kind = "group"
definition = {words}
key = ["intervention"]
rows = 1
escalate = "always"
"""
CELL = '[[fields.fields]]\nname = {name}\nkind = "{kind}"\ndefinition = {words}\n{more}'
KINDS = {"binary": ("events", "group_size"), "continuous": ("mean", "standard_deviation", "group_size")}
WORDS = {
    "events": "Number of participants with the event in the {arm} arm.",
    "group_size": "Number of participants in the {arm} arm.",
    "mean": "Mean in the {arm} arm.",
    "standard_deviation": "Standard deviation in the {arm} arm; no standard error.",
}
NUMBER = FieldSpec(name="number", kind="number", definition="")


class Cell(NamedTuple):
    """One number of one comparison: gold, what was extracted, and what its quote is worth."""

    trial: str
    kind: str
    place: str
    name: str
    pair: Pair


def place_of(item: dict[str, Any]) -> str:
    """Where the annotators found the numbers."""
    if item["is_data_in_figure_graphics"]:
        return "figure"
    if item["is_relevant_data_in_table"]:
        return "table printed as a picture" if item["is_table_in_graphic_format"] else "table"
    return "text"


def picked(items: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Up to three comparisons of a trial: of each type and place one first, then more in their order."""
    found: dict[str, dict[str, Any]] = {}
    seen: set[tuple[str, str]] = set()
    able = {key: item for key, item in sorted(items.items()) if item["outcome_type"] in KINDS}
    for fresh in (True, False):
        for key, item in able.items():
            sort = item["outcome_type"], place_of(item)
            if key not in found and len(found) < COMPARISONS and (sort not in seen or not fresh):
                found[key] = item
                seen.add(sort)
    return found


def protocol_of(items: dict[str, dict[str, Any]]) -> str:
    """The declaration of one trial's comparisons."""
    text = PROTOCOL
    for number, item in enumerate(items.values(), 1):
        arms = item["intervention"], item["comparator"]
        words = (
            f'Results for the outcome "{item["outcome"]}", comparing "{arms[0]}" (intervention) with "{arms[1]}" (comparator).'
        )
        text += GROUP.format(name=json.dumps(f"comparison_{number}"), words=json.dumps(words))
        for side, arm in zip(("intervention", "comparator"), arms, strict=True):
            told = json.dumps(f"Name of the {side} arm ({arm}) as the report writes it.")
            text += CELL.format(name=json.dumps(side), kind="open", words=told, more="required = true\n")
        for side in ("intervention", "comparator"):
            for what in KINDS[item["outcome_type"]]:
                told = json.dumps(WORDS[what].format(arm=side))
                text += CELL.format(name=json.dumps(f"{side}_{what}"), kind="number", words=told, more=f'arm = "{side}"\n')
    return text


def make(folder: Path, items: dict[str, dict[str, Any]], record: Record, document: Document) -> Review:
    """One review with one report."""
    folder.mkdir(parents=True)
    (folder / "review.toml").write_text(protocol_of(items), encoding="utf-8")
    review = open_review(folder)
    with review.open(create=True) as store:
        store.append("records", [record_row(record, "rct_numeric")])
        insert_documents(store, [(document, "the set")])
    return review


def cells_of(review: Review, trial: str, items: dict[str, dict[str, Any]]) -> list[Cell]:
    """Every number of the comparisons; none of a trial that was not extracted."""
    found = []
    with review.open() as store:
        rows = store.rows("select field, value, error, evidence from extracted")
        state = store.value("select state from extraction")
    if state != "extracted":
        print(f"{trial}: {state}")
    by_name = {name: (json.loads(value) if value else None, error, json.loads(told or "[]")) for name, value, error, told in rows}
    for number, item in enumerate(items.values(), 1):
        value, error, evidence = by_name.get(f"comparison_{number}", (None, "not extracted", []))
        row, shown = (value[0], evidence[0]) if value else ({}, {})
        for name in NUMBERS:
            if name.split("_", 1)[1] not in KINDS[item["outcome_type"]]:
                continue
            wrong = bool(error) or name in shown.get("errors", {})
            given = row.get(name)
            support = None if given is None else shown.get("doubts", {}).get(name, SUPPORTED).split(": ")[0]
            pair = Pair(record_id=f"{trial} {number} {name}", gold=item[name], value=given, invalid=wrong, support=support)
            found.append(Cell(trial, item["outcome_type"], place_of(item), name, pair))
    return found


def counts(cells: Iterable[Cell]) -> FieldCounts:
    """How some numbers came out."""
    return count_field(NUMBER, [cell.pair for cell in cells], normalised_match)


def interval(cells: Sequence[Cell], measure: Callable[[FieldCounts], float | None]) -> str:
    """A bootstrap over trials; empty below two of them."""
    trials: dict[str, list[Cell]] = defaultdict(list)
    for cell in cells:
        trials[cell.trial].append(cell)
    names, rng = sorted(trials), np.random.default_rng(SEED)
    if len(names) < 2:
        return "–"
    by_trial = [counts(trials[name]) for name in names]
    table = np.array([[getattr(one, kind) for kind in FieldCounts.model_fields] for one in by_trial])
    drawn = table[rng.integers(0, len(names), (REPEATS, len(names)))].sum(axis=1)
    values = [measure(FieldCounts(**dict(zip(FieldCounts.model_fields, map(int, row), strict=True)))) for row in drawn]
    kept = [value for value in values if value is not None]
    return f"{np.quantile(kept, 0.025):.2f} to {np.quantile(kept, 0.975):.2f}" if kept else "–"


def table_of(title: str, cells: Sequence[Cell], by: Callable[[Cell], str]) -> Table:
    """Accuracy and precision of the numbers, group by group and together."""
    groups: dict[str, list[Cell]] = defaultdict(list)
    for cell in cells:
        groups[by(cell)].append(cell)
    rows = []
    for name, kept in [*sorted(groups.items()), ("all", list(cells))]:
        c = counts(kept)
        known = len({cell.trial for cell in kept})
        rows.append(
            [name, known, c.n, c.accuracy.value, interval(kept, lambda c: c.accuracy.value), c.recall.value, c.precision.value,
             c.correct, c.wrong, c.missing, c.spurious, c.invalid, c.both_empty]
        )  # fmt: skip
    header = ["", "trials", "numbers", "accuracy", "95 %", "recall", "precision", "correct", "wrong", "missing", "spurious",
              "invalid", "both empty"]  # fmt: skip
    return Table(title, header, rows)


def show(cells: list[Cell]) -> None:
    """Accuracy by type and place; precision by what the quotes are worth."""
    print(render([table_of("By type of outcome", cells, lambda cell: cell.kind), table_of("By place", cells, lambda c: c.place)]))
    print(render([table_of("By number", cells, lambda cell: cell.name.split("_", 1)[1].replace("_", " "))]))
    given = [cell for cell in cells if cell.pair.support]
    supports = sorted({str(cell.pair.support) for cell in given}, key=lambda name: (name != SUPPORTED, name))
    rows = []
    kept_by = {name: [cell for cell in given if cell.pair.support == name] for name in supports}
    others = [cell for cell in given if cell.pair.support != SUPPORTED]
    for name, kept in [*kept_by.items(), ("any but supported", others), ("all values", given)]:
        c = counts(kept)
        rows.append([name, c.n, c.correct, c.wrong, c.spurious, c.precision.value, interval(kept, lambda c: c.precision.value)])
    print(
        render(
            [
                Table(
                    "Precision by what the quote is worth",
                    ["quote", "values", "right", "wrong", "spurious", "precision", "95 %"],
                    rows,
                )
            ]
        )
    )
    found = [cell for cell in given if cell.pair.support != "quote not found"]
    print(f"quotes that stand in the report: {len(found)} of {len(given)} values")


def main(folder: Path, count: int, corpora: Path) -> None:
    """Extract, and print what came out."""
    corpus = read_set(SETS.get("rct_numeric"), corpora / "rct_numeric", None, None)
    gold: dict[str, dict[str, dict[str, Any]]] = defaultdict(lambda: defaultdict(dict))
    for told in corpus.fields:
        gold[told.record_id][str(told.item)][told.field] = told.value
    records = {record.record_id: record for record in corpus.records}
    able = [document for document in corpus.documents if document.readable and gold[document.record_id]]
    cells: list[Cell] = []
    for document in sorted(able, key=lambda one: (len(one.text()), one.record_id))[:count]:
        trial = document.record_id
        here, items = folder / trial, picked(gold[trial])
        review = open_review(here) if here.exists() else make(here, items, records[trial], document)
        with review.open() as store, ProgressLine() as progress:
            asyncio.run(run_review(review, store, observer=progress, probed=False))
        cells += cells_of(review, trial, items)
    show(cells)


if __name__ == "__main__":
    default = Path(__file__).resolve().parents[2] / "shared" / "corpora"
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 12, Path(sys.argv[3]) if len(sys.argv) > 3 else default)
