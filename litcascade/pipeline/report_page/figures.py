"""Figures of a screening stage with gold: what recall costs, w-sweep with crossovers, scores by gold, reliability."""

from collections.abc import Sequence
from itertools import combinations, pairwise

import numpy as np
import polars as pl

from litcascade.errors import InputError
from litcascade.eval import Confusion, confusion_of, ranking_of
from litcascade.eval.curves import loss_workload_curve
from litcascade.eval.metrics import parse_measure
from litcascade.eval.panels import frontier, score_steps, singles, vote_steps
from litcascade.eval.panels.frontier import Point
from litcascade.eval.panels.votes import label, votes_of
from litcascade.eval.score_calibration import brier, expected_calibration_error, reliability
from litcascade.eval.sensitivity import best_by_weight, crossovers, sweep
from litcascade.pipeline.states import SCORED, stage_frame
from litcascade.report.charts import Axis, Line, histogram, line_chart
from litcascade.report.page import Block, Figure, absent
from litcascade.report.tables import Table
from litcascade.store import Store

BINS = 20
MOST_STEPS = 80
MOST_DOTS = 30
MOST_COMPARED = 6
_SPARSE = pl.String


def score_figures(store: Store, stage: str, weight: float) -> list[Block]:
    """All figures of one stage; where a figure cannot be drawn, the sentence that says why."""
    frame = stage_frame(store, stage).filter(pl.col("state").is_in(SCORED))
    if not frame.height:
        return [absent(f"{stage}: no record with a gold label was judged by a model, so no figure can be drawn.")]
    readings = _readings(store, stage)
    return [*_frontier(stage, frame, readings), *_sweep(store, stage, frame, readings, weight), *_scores(store, stage, frame)]


def _readings(store: Store, stage: str) -> pl.DataFrame:
    return store.frame(
        "select record_id, reader, decision, score from readings join current_stages using (stage, fingerprint) where stage = ? "
        "qualify row_number() over (partition by record_id, reader order by seq desc) = 1",
        {"record_id": _SPARSE, "reader": _SPARSE, "decision": _SPARSE, "score": pl.Float64}, [stage],
    )  # fmt: skip


def _frontier(stage: str, frame: pl.DataFrame, readings: pl.DataFrame) -> list[Block]:
    c = confusion_of(frame)
    if not c.positives:
        return [absent(f"{stage}: no record is an include by gold, so recall, and what it costs, are undefined.")]
    ran = (parse_measure("workload_reduction")(c).value, parse_measure("recall")(c).value)
    lines, rows = [], [["as it ran", None, *ran]]
    if not frame["score"].drop_nulls().is_empty():
        curve = loss_workload_curve(ranking_of(frame.select("record_id", "gold", "score")))
        kept = curve[_spread(curve.height)]
        recall = (1 - kept["lost_evidence"]).to_list()
        lines.append(
            Line("threshold on the score", kept["workload_reduction"].to_list(), recall, steps=curve.height <= MOST_STEPS)
        )
        rows += [
            ["threshold on the score", *row]
            for row in zip(kept["threshold"].to_list(), kept["workload_reduction"].to_list(), recall, strict=True)
        ]
    points = _panel(frame, readings)
    if points:
        places = [(p.workload_reduction.value or 0.0, p.recall.value or 0.0) for p in points]
        x, y = ([place[axis] for place in places] for axis in (0, 1))
        few = len(points) <= MOST_DOTS
        lines.append(Line("best votes and thresholds of the panel", x, y, dots=few, joined=not few))
        rows += [[_words(p), getattr(p.rule, "threshold", None), *place] for p, place in zip(points, places, strict=True)]
    if not lines:
        told = ", ".join("undefined" if value is None else f"{value:.3f}" for value in ran)
        return [absent(f"{stage}: one reader without scores allows one operating point: share not read, recall: {told}.")]
    if ran[0] is not None and ran[1] is not None:
        lines.append(Line("as it ran", [ran[0]], [ran[1]], dots=True))
    title = f"What recall costs at {stage}"
    words = f"Recall against the share of records not read; {frame.height} records with gold, {int(c.positives)} includes"
    svg = line_chart(lines, Axis("share not read", 0, 1), Axis("recall", 0, 1), title, words)
    data = Table(f"{title}: data", ["rule", "threshold", "share not read", "recall"], rows)
    seen = "Rules are seen here on the records they would be chosen on: for a promise choose them with `litcascade bench choose`."
    caption = f"{words}. {seen}"
    return [Figure(title, svg, data, caption)]


def _words(point: Point) -> str:
    """A rule of the panel in words; its threshold has a column of its own."""
    votes = getattr(point.rule, "votes", None)
    return f"{point.family} of {', '.join(point.rule.readers)}" + (f", at least {votes}" if votes else "")


def _spread(count: int) -> list[int]:
    """At most so many rows of a curve, first and last among them."""
    if count <= MOST_STEPS:
        return list(range(count))
    return sorted({round(i) for i in np.linspace(0, count - 1, MOST_STEPS)})


def _panel(frame: pl.DataFrame, readings: pl.DataFrame) -> tuple[Point, ...]:
    """The frontier over the readers of a stage; none where one reader alone was asked, or they read different records."""
    if readings["reader"].n_unique() < 2:
        return ()
    try:
        known = label(votes_of(readings, gaps="common"), frame.select("record_id", "gold"))
        families = [singles(known), vote_steps(known)]
        if not np.isnan(known.votes.scores).all():
            families.append(score_steps(known))
        found = frontier(families)
        return tuple(found[i] for i in _spread(len(found)))
    except InputError:
        return ()


def classifiers(store: Store, stage: str, frame: pl.DataFrame, readings: pl.DataFrame) -> dict[str, Confusion]:
    """The stage, its readers where there are several, and stored baselines, all on the same records."""
    found = {"this stage": confusion_of(frame)}
    gold = frame.select("record_id", "gold")
    names = sorted(readings["reader"].unique())
    state = pl.col("decision").replace_strict({"include": "included", "exclude": "excluded"}, default="referred")
    for name in names if len(names) > 1 else []:
        mine = readings.filter(pl.col("reader") == name).with_columns(state=state.fill_null("referred"))
        joined = gold.join(mine.select("record_id", "state"), on="record_id")
        if joined.height == frame.height:
            found[name] = confusion_of(joined)
    rows = store.rows(
        "select fingerprint, record_id, state from verdicts where stage = ? and fingerprint like 'baseline:%' "
        "qualify row_number() over (partition by fingerprint, record_id order by seq desc) = 1",
        [stage],
    )
    baselines = pl.DataFrame(rows, schema={"mark": _SPARSE, "record_id": _SPARSE, "state": _SPARSE}, orient="row")
    for mark in sorted(baselines["mark"].unique()):
        joined = gold.join(baselines.filter(pl.col("mark") == mark).select("record_id", "state"), on="record_id")
        if joined.height == frame.height and joined["state"].is_in(SCORED).all():
            found[mark] = confusion_of(joined)
    return found


def _sweep(store: Store, stage: str, frame: pl.DataFrame, readings: pl.DataFrame, weight: float) -> list[Block]:
    compared = dict(list(classifiers(store, stage, frame, readings).items())[:MOST_COMPARED])
    weights = [float(w) for w in np.geomspace(1, 100, 41)]
    table = sweep(compared, weights)
    lines = []
    for name in compared:
        mine = table.filter((pl.col("classifier") == name) & pl.col("wmcc").is_not_null())
        if mine.height:
            lines.append(Line(name, mine["w"].to_list(), mine["wmcc"].to_list()))
    if not lines:
        return [absent(f"{stage}: WMCC is undefined at every w (a row or column of the matrix is empty), so there is no sweep.")]
    values = table["wmcc"].drop_nulls().to_list()
    title = f"WMCC over w at {stage}"
    low = min(0.0, min(values))
    svg = line_chart(lines, Axis("w, the cost of a missed include", 1, 100, log=True), Axis("WMCC", low, 1), title,
                     f"WMCC of {', '.join(compared)} for w from 1 to 100; the protocol sets w = {weight:g}")  # fmt: skip
    data = Table(f"{title}: data", ["classifier", "w", "WMCC"], [list(row) for row in table.iter_rows()])
    blocks: list[Block] = [Figure(title, svg, data, f"The protocol sets w = {weight:g}.")]
    if len(compared) == 1:
        return [
            *blocks,
            absent(f"{stage}: one classifier alone is stored, so no order can change; `score --baselines` adds some."),
        ]
    turns = [[one, other, _listed(crossovers(compared[one], compared[other]))] for one, other in combinations(compared, 2)]
    best = "; ".join(f"{s.classifier} from w = {s.low:.3g} to {s.high:.3g}" for s in best_by_weight(compared))
    notes = [f"highest WMCC: {best}" if best else "no classifier has a defined WMCC"]
    return [
        *blocks,
        Table(f"Where the order changes at {stage}", ["first", "second", "w of the crossovers, 0.1 to 1000"], turns, notes),
    ]


def _listed(places: Sequence[float]) -> str:
    return ", ".join(f"{place:.3g}" for place in places) or "none"


def _scores(store: Store, stage: str, frame: pl.DataFrame) -> list[Block]:
    """Histogram of all scores by gold, and the reliability diagram of those with gold."""
    rows = store.rows(
        f"select s.score, coalesce(g.decision, 'no label') from {stage} s left join current_gold g on g.record_id = s.record_id "
        f"and g.stage = '{stage}' where s.score is not null"
    )
    if not rows:
        return [absent(f"{stage}: no reader gave a score, so there is no histogram and no reliability diagram.")]
    edges = [i / BINS for i in range(BINS + 1)]
    named = {"include": "include by gold", "exclude": "exclude by gold", "no label": "no gold label"}
    groups = {
        words: np.histogram([score for score, said in rows if said == key], edges)[0].tolist()
        for key, words in named.items()
        if any(said == key for _, said in rows)
    }
    title = f"Scores at {stage}"
    words = f"{len(rows)} records with a score, in {BINS} bins of width {1 / BINS:g}"
    counts = [[low, high, *(groups[name][i] for name in groups)] for i, (low, high) in enumerate(pairwise(edges))]
    data = Table(f"{title}: data", ["from", "to", *groups], counts)
    blocks: list[Block] = [Figure(title, histogram(edges, groups, "p(include)", title, words), data, words + ".")]
    known = frame.filter(pl.col("score").is_not_null())
    if not known.height:
        return [*blocks, absent(f"{stage}: no record has both a score and a gold label, so reliability is undefined.")]
    return [*blocks, _reliability(stage, known)]


def _reliability(stage: str, known: pl.DataFrame) -> Figure:
    scores, truth = known["score"].to_numpy(), (known["gold"] == "include").to_numpy()
    bins = [one for one in reliability(scores, truth).bins if one.n]
    x = [one.score.value or 0.0 for one in bins]
    line = Line(
        "records of a bin, with Wilson's 95 % interval", x, [one.share.value or 0.0 for one in bins],
        [one.share.low or 0.0 for one in bins], [one.share.high or 0.0 for one in bins], dots=True, joined=False,
    )  # fmt: skip
    whole = Line("a score that means what it says", [0, 1], [0, 1])
    title = f"Reliability of the scores at {stage}"
    ece, score = expected_calibration_error(scores, truth), brier(scores, truth)
    words = f"Share of includes by gold against the mean score of ten bins, {known.height} records"
    svg = line_chart([line, whole], Axis("mean score", 0, 1), Axis("share of includes", 0, 1), title, words)
    rows = [[b.low, b.high, b.n, b.score.value, b.share.value, b.share.low, b.share.high] for b in bins]
    notes = [f"expected calibration error (10 bins of width): {ece.value:.3f}" if ece.value is not None else str(ece.note)]
    notes += [f"Brier score: {score.value:.3f}" if score.value is not None else str(score.note)]
    data = Table(f"{title}: data", ["from", "to", "n", "mean score", "share", "low", "high"], rows, notes)
    return Figure(title, svg, data, words + " (" + "; ".join(notes) + ").")
