"""Speed of the evaluation floor, side by side in one run.

usage: evaluation.py

Prints the whole grid (216 classifiers x 100 weights x 1,000 subsamples of a 10,000-record review) against a loop over
scikit-learn's matthews_corrcoef, timed on a stated sample of the same evaluations; and the scoring of 1,000,000 verdicts.
"""

import resource
import time

import numpy as np
import polars as pl
from sklearn.metrics import matthews_corrcoef

from litcascade.eval import confusion_of, metrics_of, parse_measure, ranking_of
from litcascade.eval.grid import wmcc_grid
from litcascade.eval.intervals import recall_interval, wmcc_interval

CLASSIFIERS, WEIGHTS, REPEATS, RECORDS, SIZE = 216, 100, 1_000, 10_000, 5_000
SAMPLE = 40


def review(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Gold with 5 % includes and classifiers of many qualities."""
    gold = rng.random(RECORDS) < 0.05
    recall = rng.uniform(0.5, 1.0, CLASSIFIERS)[:, None]
    noise = rng.uniform(0.01, 0.4, CLASSIFIERS)[:, None]
    found = np.where(gold, rng.random((CLASSIFIERS, RECORDS)) < recall, rng.random((CLASSIFIERS, RECORDS)) < noise)
    return found, gold


def main() -> None:
    """Measure and print."""
    rng = np.random.default_rng(1)
    found, gold = review(rng)
    weights = np.geomspace(1, 100, WEIGHTS)
    started = time.perf_counter()
    evaluations = sum(
        chunk.size for chunk in wmcc_grid(found, gold, weights, np.random.default_rng(2), size=SIZE, repeats=REPEATS)
    )
    ours = time.perf_counter() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"grid: {evaluations:,} evaluations in {ours:.2f} s, peak memory {peak:,.0f} MiB")

    members = rng.choice(RECORDS, SIZE, replace=False)
    started = time.perf_counter()
    for i in range(SAMPLE):
        chosen, w = found[i % CLASSIFIERS, members], weights[i % WEIGHTS]
        matthews_corrcoef(gold[members], chosen, sample_weight=np.where(gold[members], w, 1.0))
    theirs = (time.perf_counter() - started) / SAMPLE
    hours = theirs * evaluations / 3600
    print(f"scikit-learn, {SAMPLE} of the same evaluations: {1000 * theirs:.2f} ms each, {hours:.1f} h for the grid")
    print(f"ratio: {theirs * evaluations / ours:,.0f} times faster")

    count = 1_000_000
    labels = np.where(rng.random(count) < 0.05, "include", "exclude")
    states = np.where(rng.random(count) < 0.2, "included", "excluded")
    frame = pl.DataFrame(
        {"record_id": [f"r{i}" for i in range(count)], "gold": labels, "state": states, "score": rng.random(count)}
    )
    started = time.perf_counter()
    c = confusion_of(frame)
    metrics_of(c, 10.0)
    recall_interval(c, 2_000_000)
    wmcc_interval(c, rng, population=2_000_000)
    ranking = ranking_of(frame)
    for name in ("auc", "average_precision", "wss@0.95", "tnr@0.95", "np@0.95", "last_relevant"):
        parse_measure(name)(ranking)
    print(f"1,000,000 verdicts scored, with intervals and ranking measures: {time.perf_counter() - started:.2f} s")


if __name__ == "__main__":
    main()
