"""A real grid on real records: two small embedded models x 3 prompts x 2 shot counts, on records of `lassa`.

usage: grid.py FOLDER [CORPORA]      (CORPORA: ../shared/corpora beside the checkout)

Draws 36 finally included and 94 excluded records with abstracts of at most 1,000 characters (so that it takes an hour, not five,
on two cores), with a fixed seed: 30 for examples, 50 to choose on, 50 to report on. Stop it and run it again: it goes on where it
stopped. The review it makes lies in FOLDER; nothing of the corpora is kept here.
"""

import csv
import random
import subprocess
import sys
from pathlib import Path

from first_runs import LASSA

from litcascade.pipeline.importing import import_gold, import_records
from litcascade.pipeline.review import open_review

GRID = """
[models.smol]
backend = "embedded"
model = "smollm2-135m"
family = "SmolLM2"
size = 0.135
[models.qwen]
backend = "embedded"
model = "qwen2.5-coder-1.5b"
family = "Qwen2.5"
size = 1.5
[readers.abstracts]
model = "qwen"
[bench]
models = ["qwen", "smol"]
prompts = ["basic", "inclusion", "inclusion_exclusion"]
shots = [0, 2]
positives = [0.5]
[bench.splits]
few_shot = 30
development = 50
evaluation = 50
[bench.prices]
minutes_per_record = 1.0
"""


def make(folder: Path, corpora: Path) -> None:
    """The review with its records and gold."""
    with (corpora / "lassa" / "records.csv").open(encoding="utf-8", newline="") as handle:
        rows = [row for row in csv.DictReader(handle) if 0 < len(row["abstract"].strip()) <= 1000]
    draw = random.Random(20261130)
    included = draw.sample([row for row in rows if row["label_full_text"] == "include"], 36)
    excluded = draw.sample([row for row in rows if row["label_title_abstract"] == "exclude"], 94)
    picked = [*included, *excluded]
    folder.mkdir(parents=True)
    (folder / "review.toml").write_text(LASSA + GRID, encoding="utf-8")
    with (folder / "records.csv").open("w", encoding="utf-8", newline="") as out:
        writer = csv.DictWriter(out, list(rows[0]))
        writer.writeheader()
        writer.writerows(picked)
    review = open_review(folder)
    with review.open(create=True) as store:
        import_records(store, folder / "records.csv")
        import_gold(review, store, folder / "records.csv")


def main(folder: Path, corpora: Path) -> None:
    """Make it where it is not there, run the grid, and show what came of it."""
    if not folder.exists():
        make(folder, corpora)
    for command in (["run"], ["show", "--plot", str(folder / "grid.svg")], ["choose", "--target", "0.95"]):
        subprocess.run(["litcascade", "bench", *command, "--review", str(folder)], check=True)


if __name__ == "__main__":
    here = Path(__file__).parents[1]
    main(Path(sys.argv[1]), Path(sys.argv[2]) if len(sys.argv) > 2 else here.parent / "shared" / "corpora")
