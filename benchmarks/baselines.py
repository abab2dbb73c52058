"""Baselines on real reviews: classifiers, rankings and active learning, with ASReview's own simulation beside ours.

usage: baselines.py [--repeats 10] [--seeds 5] [--peer-seeds 2] [--sets ADHD,ACEInhibitors,van_de_Schoot]

Prints the tables of docs/baselines.md. Reads the corpora from ../shared/corpora. LITCASCADE_ASREVIEW names a Python
interpreter that has ASReview: its simulation then runs on the same records from the same starts; without it, the figures
measured for the design are shown and marked as such. LITCASCADE_EMBEDDER names the folder of a sentence-transformers
model; without it, an installed model is used, and where there is none the table says so.
"""

import argparse
import gzip
import json
import os
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import polars as pl

from litcascade.corpora import read_records
from litcascade.corpora.baselines import (
    BASELINES,
    LabelledSet,
    Settings,
    Simulation,
    figures,
    labelled_set,
    load_embedder,
    order_figures,
    run_baselines,
    simulate,
)
from litcascade.corpora.baselines.base import Embed
from litcascade.corpora.build import build
from litcascade.errors import LitcascadeError
from litcascade.eval import Estimate
from litcascade.schemas import Record

CORPORA = Path(__file__).resolve().parents[2] / "shared" / "corpora"
LEVELS = {"final": "label_included", "abstract": "label_abstract_screening"}
COHEN = ("ADHD", "ACEInhibitors")
DESIGN = {  # ASReview 3.0.8 elas_u4, final labels, no prior knowledge, as measured for the design of this project
    "ADHD": "0.53 | 0.59 | 0.686",
    "ACEInhibitors": "0.75 | 0.81 | 0.807",
    "van_de_Schoot": "0.88 | 0.93 | 0.108",
}
PEER = """
import json, sys
import numpy as np, pandas as pd
from asreview import __version__
from asreview.learner import ActiveLearningCycle
from asreview.models import get_ai_config
from asreview.models.queriers import TopDown
from asreview.models.stoppers import IsFittable
from asreview.simulation.simulate import Simulate
task = json.load(open(sys.argv[1]))
orders = []
for start in task["starts"]:
    np.random.seed(0)
    first = ActiveLearningCycle(querier=TopDown(), stopper=IsFittable())
    cycles = [first, ActiveLearningCycle.from_meta(get_ai_config()["value"])]
    sim = Simulate(pd.DataFrame(task["records"]), np.array(task["labels"]), cycles, print_progress=False)
    if start:
        sim.label(start)
    sim.review()
    orders.append([int(place) for place in sim._results["record_id"]])
json.dump({"version": __version__, "orders": orders}, open(sys.argv[2], "w"))
"""


def read_cohen(name: str) -> list[Record]:
    """The records of a drug review; the compressed ones are unpacked beside the program first."""
    plain = CORPORA / "cohen2006" / f"{name}.csv"
    if plain.exists():
        return read_records(plain)[0].records
    with tempfile.TemporaryDirectory() as folder:
        unpacked = Path(folder) / plain.name
        unpacked.write_bytes(gzip.decompress(plain.with_suffix(".csv.gz").read_bytes()))
        return read_records(unpacked)[0].records


def read_van_de_schoot() -> list[Record]:
    """The records of the PTSD review, from its sheet."""
    rows = pl.read_excel(CORPORA / "asreview_hosted" / "van_de_Schoot_2017.xlsx").iter_rows(named=True)
    return [
        build(str(row["record_id"]), {"title": row["title"], "abstract": row["abstract"]}, (), place, row)
        for place, row in enumerate(rows, start=1)
    ]


def criteria_of(path: Path) -> str:
    """The question and what is to be included, one a line; what is to be excluded would draw a ranking the wrong way."""
    stated = json.loads(path.read_text())
    terms = [term for element in stated["elements"].values() for term in element["include"]]
    return "\n".join([stated["research_question"], *terms, *stated["study_design_include"]])


def read_set(name: str) -> tuple[list[Record], str, dict[str, str]]:
    """Records, criteria and duplicate clusters: exact duplicates by normalised title where the set has them."""
    if name in COHEN:
        return read_cohen(name), criteria_of(CORPORA / "cohen2006" / "criteria" / f"{name}.json"), {}
    records = read_van_de_schoot()
    keys = {one.record_id: "".join(letter for letter in (one.title or "").casefold() if letter.isalnum()) for one in records}
    groups = {record_id: f"title:{key}" for record_id, key in keys.items() if key}
    return records, criteria_of(CORPORA / "asreview_hosted" / "van_de_Schoot_criteria.json"), groups


def gold_of(records: Sequence[Record], column: str) -> dict[str, str]:
    """The labels of one level, by id."""
    return {one.record_id: "include" if float(one.source[column]) == 1 else "exclude" for one in records}


def find_embedder() -> Embed | None:
    """The model to embed with, each text once; None where there is none."""
    named = os.environ.get("LITCASCADE_EMBEDDER")
    try:
        embed = load_embedder(Path(named) if named else None)
    except LitcascadeError:
        return None
    kept: dict[tuple[str, ...], np.ndarray] = {}

    def remembered(texts: Sequence[str]) -> np.ndarray:
        key = tuple(texts)
        if key not in kept:
            kept[key] = np.asarray(embed(texts))
        return kept[key]

    return remembered


def peer_orders(data: LabelledSet, records: Sequence[Record], starts: list[list[int]]) -> tuple[str, list[Simulation]] | None:
    """ASReview's reading orders from the same starts, those not read at its end behind; None where it is not given."""
    interpreter = os.environ.get("LITCASCADE_ASREVIEW")
    if not interpreter:
        return None
    with tempfile.TemporaryDirectory() as folder:
        task, answer = Path(folder) / "task.json", Path(folder) / "answer.json"
        texts = [{"title": one.title or "", "abstract": one.abstract or ""} for one in records]
        labels = [int(label) for label in data.labels]
        task.write_text(json.dumps({"records": texts, "labels": labels, "starts": starts}))
        subprocess.run([interpreter, "-c", PEER, str(task), str(answer)], check=True)
        found = json.loads(answer.read_text())
    simulations = []
    for start, order in zip(starts, found["orders"], strict=True):
        places = order + sorted(set(range(len(data.ids))) - set(order))
        ids = tuple(data.ids[place] for place in places)
        simulations.append(Simulation(ids, data.labels[places], len(start), len(order), 0))
    return found["version"], simulations


def shown(estimate: Estimate) -> str:
    """A figure with its range."""
    if estimate.value is None:
        return "undefined"
    if estimate.low is None or estimate.high is None or estimate.high - estimate.low < 0.0005:
        return f"{estimate.value:.2f}"
    return f"{estimate.value:.2f} ({estimate.low:.2f} to {estimate.high:.2f})"


def baseline_rows(data: LabelledSet, settings: Settings, embed: Embed | None) -> Iterator[str]:
    """One row a baseline; those that could not run say why."""
    for name in BASELINES.names():
        started = time.process_time()
        outcomes, absent = run_baselines(data, settings, names=[name], embed=embed)
        for outcome in outcomes:
            own = figures(outcome, ("mcc", "wmcc@10"), guarded=False)
            cells = [shown(one) for one in (*own, *figures(outcome))]
            yield f"| {name} | {' | '.join(cells)} | {time.process_time() - started:.0f} |"
        for why in absent.values():
            yield f"| {name} | not run: {why} | | | | | | | |"


def order_row(label: str, simulations: Sequence[Simulation], seconds: float | None) -> str:
    """One row for reading orders; they decide nothing, so the matrix measures have no value."""
    cells = [shown(one) for one in order_figures(simulations)]
    return f"| {label} | – | – | – | – | {' | '.join(cells)} | {'' if seconds is None else f'{seconds:.0f}'} |"


def timed_row(label: str, data: LabelledSet, seeds: int, batch: float, start: str) -> str:
    """Our simulation over seeds; CPU seconds are those of one simulation."""
    started = time.process_time()
    runs = [simulate(data, seed=seed, batch=batch, start="given" if start == "given" else "prior") for seed in range(seeds)]
    return order_row(label, runs, (time.process_time() - started) / seeds)


def simulation_rows(
    name: str, level: str, data: LabelledSet, records: Sequence[Record], seeds: int, peer_seeds: int
) -> Iterator[str]:
    """Active learning: ours by default, then, on the final labels, one record at a time beside ASReview from the same starts."""
    yield timed_row(f"active learning, {seeds} seeds, records with text", data.only(data.with_text), seeds, 0.02, "prior")
    yield timed_row(f"active learning, {seeds} seeds, all records", data, seeds, 0.02, "prior")
    yield timed_row("the same from the file's order", data, 1, 0.02, "given")
    if level != "final":
        return
    yield timed_row("one at a time, from the file's order", data, 1, 0, "given")
    drawn = [simulate(data, seed=seed, batch=0) for seed in range(peer_seeds)]
    if drawn:
        yield order_row(f"one at a time, {peer_seeds} seeds", drawn, None)
    place_of = {one: place for place, one in enumerate(data.ids)}
    starts: list[list[int]] = [[], *([place_of[one] for one in run.order[: run.prior]] for run in drawn)]
    peer = peer_orders(data, records, starts)
    if peer is None:
        yield f"| ASReview 3.0.8 from the file's order (from the design, not run here) | – | – | – | – | {DESIGN[name]} | |"
        return
    version, theirs = peer
    yield order_row(f"ASReview {version} from the file's order", theirs[:1], None)
    if drawn:
        yield order_row(f"ASReview {version} from the same {peer_seeds} starts", theirs[1:], None)


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--peer-seeds", type=int, default=2)
    parser.add_argument("--sets", default=",".join(DESIGN))
    asked = parser.parse_args()
    embed = find_embedder()
    for name in asked.sets.split(","):
        records, criteria, groups = read_set(name)
        for level, column in LEVELS.items():
            if level != "final" and name not in COHEN:
                continue
            data = labelled_set(records, gold_of(records, column), criteria=criteria, groups=groups)
            counts = f"{len(data.ids):,} records, {int(data.labels.sum())} includes"
            unread = len(data.ids) - len(data.with_text)
            guarded = sum(guard is not None for guard in data.guards)
            print(
                f"\n### {name}, {level} labels: {counts}, {guarded} without a whole abstract, {unread} of them without any text\n"
            )
            print("| baseline | MCC, own | WMCC(10), own | MCC | WMCC(10) | WSS@95 | TNR@95 | last relevant | CPU s |")
            print("|---|---|---|---|---|---|---|---|---|")
            for row in baseline_rows(data, Settings(repeats=asked.repeats), embed):
                print(row, flush=True)
            for row in simulation_rows(name, level, data, records, asked.seeds, asked.peer_seeds):
                print(row, flush=True)


if __name__ == "__main__":
    main()
