"""`litcascade metrics` and `litcascade plan`: a calculator, and the planner of audits."""

from pathlib import Path
from typing import Any

from litcascade.cli.show import print_json, print_tables
from litcascade.errors import InputError
from litcascade.eval import METRICS, Confusion
from litcascade.eval.binary import metrics_of
from litcascade.eval.guarantees import certificate, includes_needed, plan_elusion
from litcascade.eval.metrics import caution_of
from litcascade.eval.sensitivity import sweep
from litcascade.report import Table

SWEEP = (1, 2, 3, 5, 10, 20, 30, 50, 100)


def list_metrics(json_out: bool) -> None:
    """Every metric with formula, source, range and what happens when it is undefined."""
    rows = []
    for _, spec in METRICS:
        name = spec.name if spec.parameter is None else f"{spec.name}@{spec.parameter[1]:g}"
        span = f"{_end(spec.low)} to {_end(spec.high)}"
        rows.append(
            [name, spec.formula, span, spec.source, f"undefined {spec.undefined}" + (f"; {spec.caution}" if spec.caution else "")]
        )
    header = ["name", "formula", "range", "source", "undefined; caution"]
    if json_out:
        print_json([dict(zip(header, row, strict=True)) for row in rows])
    else:
        print_tables([Table("Metrics (name@parameter)", header, rows)])


def _end(value: float | None) -> str:
    return "no limit" if value is None else f"{value:g}"


def calculate(counts: tuple[int, int, int, int], weight: float, swept: bool, json_out: bool) -> None:
    """All metrics of a confusion matrix, and WMCC over w where asked."""
    if any(count < 0 for count in counts):
        raise InputError("counts cannot be below 0; give TP FP FN TN")
    c = Confusion(tp=counts[0], fp=counts[1], fn=counts[2], tn=counts[3])
    estimates = metrics_of(c, weight, raters=True)
    curve = sweep({"matrix": c}, SWEEP).rows() if swept else []
    if json_out:
        print_json({"confusion": c, "metrics": estimates, "sweep": [{"w": w, "wmcc": value} for _, w, value in curve]})
        return
    rows: list[list[Any]] = [[e.metric, e.value, e.note or caution_of(e.metric)] for e in estimates]
    tables = [Table(f"TP {counts[0]}, FP {counts[1]}, FN {counts[2]}, TN {counts[3]}", ["metric", "value", "note"], rows)]
    if curve:
        tables.append(Table("WMCC by w", ["w", "wmcc"], [[f"{w:g}", value] for _, w, value in curve]))
    print_tables(tables)


def plan(
    folder: Path, excluded: int | None, found: int | None, target: float, alpha: float, assumed: int, json_out: bool
) -> None:
    """How many exclusions to re-read, and how many labelled includes to have, to claim a recall."""
    if excluded is None or found is None:
        excluded, found = _from_review(folder, excluded, found)
    rows = plan_elusion(excluded, found, target, alpha=alpha, assumed=assumed)
    labelled = [(misses, includes_needed(target, misses, alpha)) for misses in range(4)]
    if json_out:
        certificates = [{"misses": misses, "includes": needed} for misses, needed in labelled]
        print_json({"excluded": excluded, "found": found, "recall": target, "audit": rows, "labelled includes": certificates})
        return
    chance = f"chance if {assumed} were missed"
    audit = Table(
        f"To show recall >= {target:g} at {1 - alpha:.0%} by re-reading some of {excluded} exclusions ({found} found so far)",
        ["relevant ones among them", "re-read at least", chance],
        [[f"at most {row.allowed}", row.sample, row.chance] for row in rows],
        ["a dash: not even reading all of them would show it", "decide on the row before you read"],
    )
    shown = [[misses, needed, certificate(needed - misses, needed, alpha).low] for misses, needed in labelled]
    includes = Table("Or by labelled includes alone", ["misses among them", "includes needed", "recall shown"], shown)
    print_tables([audit, includes])


def _from_review(folder: Path, excluded: int | None, found: int | None) -> tuple[int, int]:
    """What the review knows: exclusions of the first stage, and relevant records confirmed by a person or by gold."""
    from litcascade.pipeline.auditing import confirmed
    from litcascade.pipeline.review import open_review

    review = open_review(folder)
    screening = [name for name, _ in review.protocol.stages.items() if name != "extraction"]
    with review.open(read_only=True) as store:
        if excluded is None:
            excluded = store.value(f"select count(*) from {screening[0]} where state = 'excluded'")
        if found is None:
            found = confirmed(store, screening[-1])
    if not excluded:
        raise InputError("nothing is excluded yet, so there is nothing to audit; run first, or give --excluded")
    if not found:
        raise InputError(
            "no included record is confirmed by a person or by gold; give --found (what a model includes is not found)"
        )
    return excluded, found


def draw(
    folder: Path, path: Path, stage: str | None, size: int | None, target: float, alpha: float, seed: int, force: bool,
    json_out: bool,
) -> None:  # fmt: skip
    """Draw the audit of silver exclusions and write it for people to fill in."""
    from litcascade.pipeline.auditing import draw_audit
    from litcascade.pipeline.exporting import require_free
    from litcascade.pipeline.review import open_review

    review = open_review(folder)
    require_free(review, path, force)
    with review.open() as store:
        audit = draw_audit(review, store, path, stage=stage, size=size, target=target, alpha=alpha, seed=seed)
    if json_out:
        print_json(audit)
        return
    print_tables([
        Table(
            f"{path}: audit at {audit.stage}", ["", "records"],
            [["excluded by models", audit.population], ["to re-read", audit.sample]],
            [
                "drawn now" if audit.fresh else "drawn earlier; the same records again",
                f"fill in the column decision, then: litcascade import {path} --as decisions --by NAME",
                "litcascade report shows what was lost at most, once all are decided",
            ],
        )
    ])  # fmt: skip
