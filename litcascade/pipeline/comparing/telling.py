"""A comparison as tables for the terminal, as a page, and as plain values."""

from typing import Any

from litcascade import __version__
from litcascade.eval import Estimate
from litcascade.pipeline.comparing.comparing import Compared, Flip, StageCompared
from litcascade.report import Table
from litcascade.report.page import Block, Folded, Page, Prose, Section, absent
from litcascade.store import now

SHOWN = 50
_OPEN = 100


def tables_of(done: list[Compared], most: int | None = SHOWN) -> list[Table]:
    """All tables; flipped records up to `most`, the rest counted."""
    return [table for one in done for table in _tables(one, most)]


def _tables(one: Compared, most: int | None) -> list[Table]:
    pair = f"{one.first} and {one.second}"
    changed = [[change.key, change.first, change.second] for change in one.changes]
    made = [
        Table(f"What differs: {pair}", ["key", one.first, one.second], changed, [] if changed else ["nothing in the protocol"])
    ]
    made.append(Table(f"Records: {pair}", ["where", "state at the first stage", "records"], _whose(one), _notes(one)))
    for stage in one.stages:
        made += _stage(one, stage)
        flips = [_row(flip) for flip in stage.flips[:most]]
        notes = (
            [f"and {len(stage.flips) - len(flips)} more (--json and --html list all)"] if len(flips) < len(stage.flips) else []
        )
        header = ["record", one.first, one.second, "gold", "title"]
        made.append(Table(f"{len(stage.flips)} record(s) that flipped at {stage.stage}", header, flips, notes))
    return made


def _whose(one: Compared) -> list[list[Any]]:
    rows: list[list[Any]] = [["on both sides", None, one.records]]
    for name, counts in ((one.first, one.only_first), (one.second, one.only_second)):
        rows += [[f"only in {name}", state, count] for state, count in sorted(counts.items())]
    return rows


def _notes(one: Compared) -> list[str]:
    notes = ["records are matched by their id; what only one side has is new since, or was left out, and stands in no test"]
    if one.strangers:
        notes.append(
            f"{len(one.strangers)} id(s) stand for records with other titles ({', '.join(one.strangers[:5])}) and are left out"
        )
    return notes + [f"{stage} is a stage of one side alone" for stage in one.missing]


def _stage(one: Compared, stage: StageCompared) -> list[Table]:
    joint = [[*states, count] for states, count in sorted(stage.joint.items(), key=lambda item: (-item[1], item[0]))]
    return [
        Table(f"States at {stage.stage}", [one.first, one.second, "records"], joint),
        Table(f"Tests and agreement at {stage.stage}", ["figure", "value", "95 %", "p, Holm", "n", "note"], _figures(stage)),
    ]


def _figures(stage: StageCompared) -> list[list[Any]]:
    rows: list[list[Any]] = []
    if stage.paired is None:
        rows.append(["paired tests", None, None, None, 0, stage.why])
    else:
        found = stage.paired
        rows.append([f"{found.difference.metric}, first minus second", *_told(found.difference)])
        for name, p, among in (
            ("recall", found.p_recall, "gold includes"), ("accuracy", found.p_accuracy, "all gold records"),
        ):  # fmt: skip
            note = f"McNemar's exact test among {among}" if p is not None else f"no pair of verdicts differs among {among}"
            rows.append([f"p, {name}", _p(p), None, _p(stage.adjusted.get(name)), stage.gold, note])
    if stage.gold_differs:
        rows.append(["gold labels that differ", stage.gold_differs, None, None, stage.gold_differs, "left out of the tests"])
    agree = stage.agreement
    for name in ("percent", "kappa", "pabak", "positive", "negative"):
        estimate: Estimate = getattr(agree, name)
        rows.append([f"agreement: {estimate.metric}", *_told(estimate)])
    return rows


def _p(value: float | None) -> float | str | None:
    """A p-value; one that three places would show as 0 is written with its power of ten."""
    return f"{value:.1e}" if value is not None and value < 0.001 else value


def _told(estimate: Estimate) -> list[Any]:
    bounds = None if estimate.low is None or estimate.high is None else f"{estimate.low:.3f} to {estimate.high:.3f}"
    return [estimate.value, bounds, None, estimate.n, estimate.note]


def _row(flip: Flip) -> list[Any]:
    return [flip.record_id, flip.first, flip.second, flip.gold, flip.title]


def comparison_page(done: list[Compared]) -> Page:
    """The comparison as a page, with every flipped record."""
    sections = []
    for one in done:
        blocks: list[Block] = []
        for table in _tables(one, None):
            if not table.rows:
                blocks.append(absent(f"{table.title}: none."))
            else:
                blocks.append(Folded(table) if len(table.rows) > _OPEN else table)
        if one.strangers:
            blocks.insert(0, Prose(f"{len(one.strangers)} record id(s) stand for different records on the two sides.", "warning"))
        sections.append(Section(f"{one.first} and {one.second}", blocks))
    lead = [
        "A state is what holds now, people's decisions heard; of a run, what its stages had judged when it ended.",
        "Paired tests are of the models alone.",
        f"Written {now()[:16].replace('T', ' ')} UTC by litcascade {__version__}",
    ]
    return Page(
        f"Comparison: {', '.join(dict.fromkeys(name for one in done for name in (one.first, one.second)))}", lead, sections
    )


def plain(done: list[Compared]) -> list[dict[str, Any]]:
    """For JSON: everything, joint states as rows."""
    return [
        {
            **vars(one),
            "changes": [vars(change) for change in one.changes],
            "stages": [
                {
                    **vars(stage),
                    "joint": [{"first": a, "second": b, "records": n} for (a, b), n in stage.joint.items()],
                    "flips": [vars(flip) for flip in stage.flips],
                }
                for stage in one.stages
            ],
        }
        for one in done
    ]
