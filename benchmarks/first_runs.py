"""The first honest runs on real records and full texts, with the small embedded model; prints the figures.

usage: first_runs.py lassa|rct FOLDER [CORPORA]      (CORPORA: ../shared/corpora beside the checkout)

Reads the corpora where they are and keeps nothing of them in the project; the review it makes lies in FOLDER.
"""

import asyncio
import csv
import random
import sys
from pathlib import Path

import polars as pl

from litcascade.cli.progress import ProgressLine
from litcascade.corpora.texts import read_document
from litcascade.eval import confusion_of, parse_measure, ranking_of
from litcascade.eval.binary import mcc, recall, wmcc
from litcascade.pipeline.importing import import_gold, import_records
from litcascade.pipeline.reporting import report_tables
from litcascade.pipeline.review import open_review
from litcascade.pipeline.run import run_review
from litcascade.pipeline.texts import import_texts
from litcascade.report import render

MODEL = """
[models.small]
backend = "embedded"
model = "qwen2.5-coder-1.5b"
context = 8192
[readers.abstracts]
model = "small"
prompt = "inclusion_exclusion"
[readers.reports]
model = "small"
prompt = "chain_of_thought"
style = "free"
labels = ["include", "exclude"]
[readers.refiner]
model = "small"
[readers.extractor]
model = "small"
"""

LASSA = """
[review]
title = "Lassa fever parameters"
question = "Which published studies give epidemiological parameters, outbreak data or models of Lassa fever?"
[[criteria]]
id = "I1"
kind = "include"
text = "Is about Lassa fever or Lassa virus."
[[criteria]]
id = "I2"
kind = "include"
text = "Original research with people, or with animals where transmission parameters are estimated."
[[criteria]]
id = "I3"
kind = "include"
text = "Reports numbers: outbreak size, seroprevalence, fatality, delays, reproduction number, risk factors, or a model."
[[criteria]]
id = "E1"
kind = "exclude"
text = "Conference abstract, letter, review, or a study in cell culture only."
[stages.title_abstract]
readers = ["abstracts"]
policy = "threshold"
threshold = 0.5
"""

RCT = """
[review]
title = "Numeric outcomes of randomised trials"
question = "Which reports are randomised controlled trials with numeric outcome data for two groups?"
[[criteria]]
id = "I1"
kind = "include"
text = "Participants were allocated at random to at least two groups."
[[criteria]]
id = "I2"
kind = "include"
text = "Outcome numbers are given for each group."
[[criteria]]
id = "E1"
kind = "exclude"
text = "Review, protocol, or no comparison group."
[stages.full_text]
readers = ["reports"]
refiner = "refiner"
referred = "pass"
[stages.extraction]
readers = ["extractor"]
[[fields]]
name = "intervention"
kind = "open"
definition = "The main intervention, in the report's own words."
[[fields]]
name = "comparator"
kind = "open"
definition = "What it was compared with, in the report's own words."
[[fields]]
name = "intervention_group_size"
kind = "number"
definition = "Number of participants in the intervention group."
minimum = 0
maximum = 1000000
[[fields]]
name = "comparator_group_size"
kind = "number"
definition = "Number of participants in the comparison group."
minimum = 0
maximum = 1000000
"""
TRIALS = ("2681019", "2972614", "4541185", "4928400", "3309311", "3276927", "2363753", "5534041")


def lassa(folder: Path, corpora: Path) -> None:
    """60 records: 20 finally included, 40 excluded at title/abstract, drawn with a fixed seed."""
    with (corpora / "lassa" / "records.csv").open(encoding="utf-8", newline="") as handle:
        rows = [row for row in csv.DictReader(handle) if row["abstract"]]
    draw = random.Random(2026)
    chosen = draw.sample([r for r in rows if r["label_full_text"] == "include"], 20)
    chosen += draw.sample([r for r in rows if r["label_title_abstract"] == "exclude"], 40)
    draw.shuffle(chosen)
    review = _lay_out(folder, LASSA, chosen)
    with review.open(create=True) as store, ProgressLine() as progress:
        if not store.value("select count(*) from records"):
            import_records(store, folder / "records.csv")
            import_gold(review, store, folder / "records.csv")
        asyncio.run(run_review(review, store, observer=progress))
        print(render(report_tables(review, store)[0]))
        frame = store.frame(
            "select t.record_id, g.decision, t.score, t.state from title_abstract t join current_gold g "
            "on g.record_id = t.record_id and g.stage = 'title_abstract'",
            {"record_id": pl.String, "gold": pl.String, "score": pl.Float64, "state": pl.String},
        )
    print(f"AUC of p(include): {parse_measure('auc')(ranking_of(frame)).value:.3f} (n = {frame.height})")
    for cut in sorted(frame["score"].drop_nulls().quantile(q / 10) or 0.0 for q in range(1, 10)):
        at = frame.with_columns(state=pl.when(pl.col("score") >= cut).then(pl.lit("included")).otherwise(pl.lit("excluded")))
        c = confusion_of(at)
        shown = [f"{e.metric} {e.value:.3f}" if e.value is not None else f"{e.metric} –" for e in (recall(c), mcc(c), wmcc(c))]
        print(f"threshold {cut:.4f}: TP {c.tp:.0f} FP {c.fp:.0f} FN {c.fn:.0f} TN {c.tn:.0f}; {', '.join(shown)}")


def rct(folder: Path, corpora: Path) -> None:
    """Eight reports: six that fit the model's window, one without a body, one too long for it."""
    source = corpora / "rct_numeric"
    paths = [source / "full_text_jats" / f"PMC{number}.nxml.gz" for number in TRIALS]
    documents = {path.name.split(".")[0]: read_document(path) for path in paths}
    rows = [{"id": key, "title": d.title or "", "abstract": d.abstract or "", "doi": d.doi or ""} for key, d in documents.items()]
    review = _lay_out(folder, RCT, rows)
    with review.open(create=True) as store, ProgressLine() as progress:
        if not store.value("select count(*) from records"):
            import_records(store, folder / "records.csv")
            for path in paths:
                import_texts(store, path)
        asyncio.run(run_review(review, store, observer=progress))
        print(render(report_tables(review, store)[0]))
        sizes = _annotated(source)
        for record_id, field, value, found, error in store.rows(
            "select record_id, field, value, quote_found, error from extracted where field like '%size' order by 1, 2"
        ):
            right = value is not None and value != "null" and float(value) in sizes.get((record_id, field), set())
            print(f"{record_id} {field}: {error or value}, quote found: {found}, in the annotations: {right}")


def _annotated(source: Path) -> dict[tuple[str, str], set[float]]:
    sizes: dict[tuple[str, str], set[float]] = {}
    with (source / "annotations.csv").open(encoding="utf-8", newline="") as handle:
        for row in csv.DictReader(handle):
            for field in ("intervention_group_size", "comparator_group_size"):
                if row[field].strip().replace(".", "", 1).isdigit():
                    sizes.setdefault((f"PMC{row['pmcid']}", field), set()).add(float(row[field]))
    return sizes


def _lay_out(folder: Path, protocol: str, rows: list[dict[str, str]]):  # type: ignore[no-untyped-def]  # a script
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "review.toml").write_text(protocol.replace("[stages", MODEL + "[stages", 1), encoding="utf-8")
    if not (folder / "records.csv").exists():
        with (folder / "records.csv").open("w", encoding="utf-8", newline="") as out:
            writer = csv.DictWriter(out, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
    return open_review(folder)


if __name__ == "__main__":
    where = Path(sys.argv[3]) if len(sys.argv) > 3 else Path(__file__).resolve().parents[2] / "shared" / "corpora"
    {"lassa": lassa, "rct": rct}[sys.argv[1]](Path(sys.argv[2]), where)
