"""Full-text screening of real reports against the criteria of their own reviews, on the small embedded model; prints the figures.

usage: full_texts.py FOLDER [N] [CORPORA]      (N: 15; CORPORA: ../shared/corpora beside the checkout)

Of the 50 reports of `csmed_ft` the N shortest that have text, and those without any, each screened with the criteria of its own
Cochrane review (the headings on studies, participants, interventions and the like), one review in FOLDER each. Stop it and run it
again: it goes on where it stopped. Nothing of the corpora is kept in the project.
"""

import asyncio
import json
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np
import polars as pl

from litcascade.cli.progress import ProgressLine
from litcascade.corpora.sets import SETS
from litcascade.eval import Confusion, confusion_of, parse_measure
from litcascade.pipeline.corpus import read_set
from litcascade.pipeline.importing import record_row
from litcascade.pipeline.review import Review, open_review
from litcascade.pipeline.run import run_review
from litcascade.pipeline.texts import insert_documents
from litcascade.report import Table, render
from litcascade.schemas import Document, Record
from litcascade.store import now

PROTOCOL = """
[review]
title = {title}
question = {question}
{criteria}
[models.small]
backend = "embedded"
model = "qwen2.5-coder-1.5b"
context = 8192
[readers.reports]
model = "small"
prompt = "one_step_basic"
labels = ["include", "exclude"]
[stages.full_text]
readers = ["reports"]
"""
WANTED = (
    "types of stud", "types of part", "types of inter", "types of phen", "types of sett", "types of health", "topic", "inclusion",
    "exclusion", "targeted",
)  # fmt: skip
SEED = 20261130
REPEATS = 2000


def criteria_of(told: dict[str, object]) -> list[str]:
    """The texts under the headings that say what is included; where there are none, the review's title has to do."""
    found = told.get("criteria")
    named = found if isinstance(found, dict) else {}
    kept = [f"{name}: {text}" for name, text in named.items() if str(name).casefold().startswith(WANTED) and str(text).strip()]
    return kept or [f"Belongs to the review: {told['title']}"]


def make(folder: Path, told: dict[str, object], pairs: list[tuple[Record, Document]], gold: dict[str, str]) -> Review:
    """One review with its criteria, its reports and their gold."""
    folder.mkdir(parents=True)
    criteria = "".join(
        f'[[criteria]]\nid = "C{number}"\nkind = "include"\nstages = ["full_text"]\ntext = {json.dumps(text)}\n'
        for number, text in enumerate(criteria_of(told), start=1)
    )
    title = json.dumps(str(told["title"]))
    (folder / "review.toml").write_text(PROTOCOL.format(title=title, question=title, criteria=criteria), encoding="utf-8")
    review = open_review(folder)
    with review.open(create=True) as store:
        store.append("records", [record_row(record, "csmed_ft") for record, _ in pairs])
        insert_documents(store, [(document, "the set") for _, document in pairs])
        stamp = {"at_time": now(), "stage": "full_text", "source": "csmed_ft"}
        store.append("gold", [{**stamp, "record_id": key, "decision": value} for key, value in gold.items()])
    return review


def macro(frame: pl.DataFrame) -> dict[str, float]:
    """Precision, recall and F1, each the mean over the two classes as the positive one."""
    c = confusion_of(frame)
    sides = (c, Confusion(tp=c.tn, fp=c.fn, fn=c.fp, tn=c.tp))
    values = {name: [parse_measure(name)(side).value for side in sides] for name in ("precision", "recall", "f@1")}
    return {name: float(np.mean([0.0 if value is None else value for value in both])) for name, both in values.items()}


def main(folder: Path, count: int, corpora: Path) -> None:
    """Screen, and print what came out."""
    where = corpora / "csmed_ft"
    corpus = read_set(SETS.get("csmed_ft"), where, None, None)
    told = json.loads((where / "CSMeD-FT-sample_reviews_metadata.json").read_text(encoding="utf-8"))
    records = {record.record_id: record for record in corpus.records}
    documents = {document.record_id: document for document in corpus.documents}
    gold = {label.record_id: label.decision for label in corpus.labels if label.stage == "full_text"}
    by_length = sorted((d for d in documents.values() if d.readable), key=lambda d: (len(d.text()), d.record_id))
    picked = [*by_length[:count], *(d for d in documents.values() if not d.readable)]
    groups: dict[str, list[str]] = defaultdict(list)
    for document in picked:
        groups[document.record_id.split("-")[0]].append(document.record_id)
    rows = []
    for name, ids in sorted(groups.items()):
        here = folder / name
        pairs = [(records[key], documents[key]) for key in ids]
        review = open_review(here) if here.exists() else make(here, told[name], pairs, {key: gold[key] for key in ids})
        with review.open() as store, ProgressLine() as progress:
            asyncio.run(run_review(review, store, observer=progress, probed=False))
            rows += store.rows(
                "select f.record_id, g.decision, f.state, coalesce(f.code, ''), f.seen, f.score from full_text f "
                "join current_gold g on g.record_id = f.record_id and g.stage = 'full_text'"
            )
    show(rows)


def show(rows: list[tuple[object, ...]]) -> None:
    """States, and macro figures with a bootstrap over reports."""
    frame = pl.DataFrame(
        [(str(row[0]), str(row[1]), str(row[2])) for row in rows],
        schema={"record_id": pl.String, "gold": pl.String, "state": pl.String}, orient="row",
    )  # fmt: skip
    print(render([Table("Reports", ["report", "gold", "state", "why", "seen", "p(include)"], [list(row) for row in rows])]))
    judged = frame.filter(pl.col("state") != "referred")
    draw = np.random.default_rng(SEED)
    places = [draw.integers(0, judged.height, judged.height) for _ in range(REPEATS)]
    again = [macro(judged[drawn].with_columns(record_id=pl.int_range(pl.len()).cast(pl.String))) for drawn in places]
    table = [
        [name, value, *np.quantile([one[name] for one in again], [0.025, 0.975]).tolist()]
        for name, value in macro(judged).items()
    ]
    c = confusion_of(judged)
    notes = [f"TP {c.tp:.0f} FP {c.fp:.0f} FN {c.fn:.0f} TN {c.tn:.0f}; {frame.height - judged.height} referred, apart",
             f"{REPEATS} bootstrap samples over reports; so few reports rank nothing"]  # fmt: skip
    print(render([Table(f"Macro over the two classes, n = {judged.height}", ["", "value", "2.5 %", "97.5 %"], table, notes)]))


if __name__ == "__main__":
    beside = Path(__file__).parents[2] / "shared" / "corpora"
    arguments = sys.argv[1:]
    main(
        Path(arguments[0]), int(arguments[1]) if len(arguments) > 1 else 15, Path(arguments[2]) if len(arguments) > 2 else beside
    )
