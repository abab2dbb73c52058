"""Asking the judges: every open question once, everything stored, stoppable anywhere and gone on with where it stopped."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from litcascade.backends import Backend
from litcascade.errors import InputError
from litcascade.judges import Rubric, Unit
from litcascade.pipeline.asking import Asking, asking
from litcascade.pipeline.executor import Spent
from litcascade.pipeline.judging.binding import BoundJudge, JudgeStage, JudgeSubject, bind_judge, judge_reader, reader_spec
from litcascade.pipeline.judging.items import Group, load_groups
from litcascade.pipeline.judging.recording import JudgeRecorder
from litcascade.pipeline.judging.units import item_unit, pair_units, scale_units, support_units, wanting_support
from litcascade.pipeline.observing import Observer
from litcascade.pipeline.review import Review
from litcascade.schemas import Record
from litcascade.store import Store, now

CHUNK = 256


@dataclass(frozen=True)
class JudgeOutcome:
    """How it ended: a status of `pipeline.run.EXIT`, its words, judgements now in the store and failed ones by judge."""

    run_id: str
    status: str
    words: str
    judged: dict[str, int]
    failed: dict[str, int]
    spent: Spent
    not_extracted: dict[str, int] = field(default_factory=dict)


async def run_judges(
    review: Review, store: Store, reader: str, *, fields: Sequence[str] = (), rubric: Rubric | None = None,
    support: bool = True, observer: Observer | None = None, backends: Mapping[str, Backend] | None = None, probed: bool = True,
) -> JudgeOutcome:  # fmt: skip
    """Ask `same_meaning` about every pair that is not equal already, then `support` about what stays unmatched.

    With a `rubric` only that scale is asked. `backends` replaces the protocol's (tests). Raises `InputError` where there is
    nothing to judge, `BackendError` where the model cannot be reached or fails its check.
    """
    model = str(reader_spec(review, reader).model)
    found = load_groups(review, store, fields)
    if not found.groups:
        raise InputError(
            "there is nothing to judge: no extracted record has gold for a free-text field; import gold fields and run first"
        )
    needs_json = bool(rubric) or support
    async with asking(review, store, model, "judge", observer, backends, probed=probed, wants_json=needs_json) as (open_run, ref):
        asked = judge_reader(review, reader, ref)
        names = ["rubric"] if rubric else ["same_meaning", *(["support"] if support else [])]
        bound = {name: bind_judge(name, asked, rubric) for name in names}
        run = _JudgeRun(open_run, review.protocol.models[model].family)
        run.begin(list(bound.values()))
        async with open_run.stoppable():
            await run.go(bound, found.groups)
        return run.outcome(found.not_extracted)


class _JudgeRun:
    def __init__(self, asked: Asking, family: str) -> None:
        self.asked = asked
        self.store = asked.store
        self.run_id = asked.run_id
        self.family = family
        self.left: dict[str, int] = {}
        self.bound: dict[str, BoundJudge] = {}

    def begin(self, judges: Sequence[BoundJudge]) -> None:
        """Put these judges in force, where they are not already."""
        newest = dict(self.store.rows("select judge, arg_max(fingerprint, seq) from judge_versions group by judge"))
        rows = []
        for item in judges:
            self.bound[item.name] = item
            model = item.judge.model
            if newest.get(item.name) != item.fingerprint:
                rows.append(
                    {
                        "at_time": now(), "run_id": self.run_id, "judge": item.name, "fingerprint": item.fingerprint,
                        "reader": item.judge.reader.name, "model": model.name, "revision": model.revision,
                        "engine": model.engine, "family": self.family or None, "rests_on": json.dumps(item.judge.rests_on),
                    }
                )  # fmt: skip
        self.store.append("judge_versions", rows)

    async def go(self, bound: Mapping[str, BoundJudge], groups: Sequence[Group]) -> None:
        """Pairs first; what they leave unmatched is then looked for in the reports."""
        self.asked.events.write("judging started", run=self.run_id, judges=list(self.bound))
        if "rubric" in bound:
            units = scale_units(groups)
            await self._ask(bound["rubric"], len(units), [units])
        if "same_meaning" in bound:
            units = pair_units(groups)
            await self._ask(bound["same_meaning"], len(units), [units])
        if "support" in bound and not self.asked.stop.status:
            verdicts = verdicts_of(self.store, bound["same_meaning"].fingerprint)
            wanted = wanting_support(groups, verdicts)
            known = verdicts_of(self.store, bound["support"].fingerprint)
            fresh = [one for one in wanted if item_unit(*one).unit_id not in known]
            await self._ask(bound["support"], len(fresh), support_units(self.store, bound["support"], fresh))
        self.asked.events.write("judging ended", run=self.run_id, calls=self.asked.spent.calls, stopped=self.asked.stop.status)

    async def _ask(self, item: BoundJudge, total: int, parts: Iterable[Sequence[Unit]]) -> None:
        done = {row[0] for row in self.store.rows("select unit_id from judgements where fingerprint = ?", [item.fingerprint])}
        before = len(done)
        pending = (unit for part in parts for unit in part if unit.unit_id not in done)
        if item.name != "support":
            held = list(pending)
            total, pending = len(held), (unit for unit in held)
        recorder = JudgeRecorder(self.store, self.run_id, item.name)
        parts_of = _chunks(pending, 16 if item.judge.needs_text else CHUNK)
        await self.asked.put(f"judge {item.name}", total, JudgeStage(item.judge), item.fingerprint, recorder, parts_of)
        after = self.store.value("select count(*) from judgements where fingerprint = ?", [item.fingerprint])
        self.left[item.name] = total - (after - before)

    def outcome(self, not_extracted: dict[str, int]) -> JudgeOutcome:
        """How it ended, counted from the store."""
        rows = self.store.rows(
            "select judge, count(*), count(*) filter (code is not null) from judgements "
            "where fingerprint in (select unnest(?::text[])) group by judge order by judge",
            [[item.fingerprint for item in self.bound.values()]],
        )
        left = sum(self.left.values())
        unfinished = left or set(self.left) != set(self.bound)
        status, words = self.asked.ending(left, bool(unfinished), "every question has a judgement, or the reason why it has none")
        judged = {name: count for name, count, _ in rows}
        failed = {name: count for name, _, count in rows if count}
        return JudgeOutcome(self.run_id, status, words, judged, failed, self.asked.spent, not_extracted)


def _chunks(units: Iterable[Unit], size: int) -> Iterator[list[JudgeSubject]]:
    source = iter(units)
    while chunk := [unit for _, unit in zip(range(size), source, strict=False)]:
        yield [JudgeSubject(record=Record(record_id=unit.record_id), unit=unit) for unit in chunk]


def verdicts_of(store: Store, fingerprint: str | None) -> dict[str, bool | None]:
    """What a judge said of each unit; None where the judgement failed."""
    return dict(store.rows("select unit_id, verdict from judgements where fingerprint = ?", [fingerprint]))
