"""What a run would ask and cost, before it is paid: requests, tokens, time and price from a small measured sample.

The sample is asked as the run would ask it: its answers are stored and are not asked again.
"""

import json
import random
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from litcascade.backends import Backend
from litcascade.backends.probe import probe
from litcascade.errors import BackendError, InputError
from litcascade.pipeline.batches import begin
from litcascade.pipeline.binding import Bound, bind, identify, names_of
from litcascade.pipeline.executor import Executor, Spent, Stop
from litcascade.pipeline.extrapolating import Span, of_counts, of_sample
from litcascade.pipeline.recorder import Recorder
from litcascade.pipeline.review import Review
from litcascade.pipeline.run import require_amendment, store_versions
from litcascade.pipeline.subjects import load_subjects, pending
from litcascade.pipeline.walking import Waiting, walk
from litcascade.schemas import ModelRef, Protocol
from litcascade.stages.budget import TEMPLATE
from litcascade.store import Store
from litcascade.store.views import NEEDS_TEXT

WALKED = {False: 2000, True: 100}  # records whose questions are made, where more are pending: by abstracts, by reports
COUNTED = 48
GUESS = 4.0  # characters a token, where no tokenizer can be asked


@dataclass(frozen=True)
class Prices:
    """What is paid: for a million tokens (prompt and answer alike), for an hour of one GPU; None: not known."""

    per_million: float | None = None
    per_hour: float | None = None


@dataclass(frozen=True)
class StageEstimate:
    """What one stage would ask. `at_most` tells that its records are not known yet: all that still may come are counted.

    `waiting` are records, `requests` those of the first round with the measured share of repairs on top, `prompt` and `answer`
    tokens, `seconds` at the pace of the sample. None: not measured, and `notes` say why.
    """

    stage: str
    at_most: bool
    waiting: int
    requests: Span
    repairs: float | None
    prompt: Span | None
    answer: Span | None
    seconds: Span | None
    gpus: int
    notes: tuple[str, ...] = ()

    @property
    def gpu_hours(self) -> Span | None:
        """GPU hours at the pace of the sample."""
        return self.seconds.times(self.gpus / 3600) if self.seconds else None

    def cost(self, prices: Prices) -> Span | None:
        """What it costs, as far as prices are known; None where none applies."""
        parts = []
        if prices.per_million is not None and self.prompt and self.answer:
            parts.append(self.prompt.plus(self.answer).times(prices.per_million / 1e6))
        if prices.per_hour is not None and self.gpu_hours:
            parts.append(self.gpu_hours.times(prices.per_hour))
        return None if not parts else parts[0] if len(parts) == 1 else parts[0].plus(parts[1])


@dataclass
class Estimated:
    """All stages, and what the sample itself used."""

    stages: list[StageEstimate] = field(default_factory=list)
    sampled: int = 0
    calls: int = 0
    tokens: int = 0
    stopped: str | None = None


@dataclass(frozen=True)
class _Pace:
    """The sample of one stage: calls a second with so many records at once."""

    calls: int
    seconds: float
    at_once: int


class _Undo(Exception):
    """Takes back what an estimate that asks nothing put into the store."""


async def estimate(
    review: Review, store: Store, backends: Mapping[str, Backend], *, sample: int = 8, seed: int = 0, probed: bool = True
) -> Estimated:
    """Estimate what a run would do from here.

    `sample` records of every stage that has something pending are asked first (0: none, and neither time nor answers are
    measured). Raises `InputError` without records, `BackendError` where a model cannot be reached.
    """
    if not store.value("select count(*) from records"):
        raise InputError("the review holds no records yet; import some with `litcascade import FILE`")
    require_amendment(review, store)
    models = await identify(review.protocol, backends)
    done = Estimated()
    if sample <= 0:
        try:
            with store.transaction():
                bound = bind(review, models, store)
                store_versions(store, "estimate", bound)
                await _all(review, store, backends, bound, Recorder(store, "estimate"), {}, done, seed)
                raise _Undo
        except _Undo:
            return done
    if probed:
        await _check(review, backends, models)
    recorder, bound = begin(review, store, models)
    paces: dict[str, _Pace] = {}
    for item in bound:
        pace = await _ask_sample(review, store, backends, item, recorder, sample, seed, done)
        if pace:
            paces[item.stage.name] = pace
    await _all(review, store, backends, bound, recorder, paces, done, seed)
    return done


async def _check(review: Review, backends: Mapping[str, Backend], models: Mapping[str, ModelRef]) -> None:
    """The canaries that a run asks first: what a model that fails them says is not worth a sample."""
    wants_json = review.protocol.stages.extraction is not None
    for name, backend in backends.items():
        if review.protocol.models[name].backend == "recorded":
            continue
        for finding in await probe(backend, models[name], wants_json=wants_json):
            if finding.fatal and not finding.ok:
                raise BackendError(f"model '{name}' failed its check: {finding.words}", fatal=True)


async def _ask_sample(
    review: Review, store: Store, backends: Mapping[str, Backend], item: Bound, recorder: Recorder, sample: int, seed: int,
    done: Estimated,
) -> _Pace | None:  # fmt: skip
    """Ask about a few pending records; the first one alone, so that loading and warming up are not taken for the pace."""
    name = item.stage.name
    ids = pending(store, name)
    if not ids or done.stopped:
        return None
    chosen = random.Random(f"{seed} {name} sample").sample(ids, min(sample, len(ids)))
    parts = [chosen[:1], chosen[1:]] if len(chosen) > 1 else [chosen]
    pace = None
    for part in parts:
        stop, spent = Stop(), Spent()
        spent.calls, spent.prompt_tokens = done.calls, done.tokens
        executor = Executor(
            item.stage, item.fingerprint, backends, recorder, spent=spent, stop=stop, budget=review.protocol.budget
        )
        started = time.monotonic()
        await executor.run([load_subjects(store, name, part)])
        seconds = time.monotonic() - started
        calls = spent.calls - done.calls
        done.sampled, done.calls, done.tokens = done.sampled + len(part), spent.calls, spent.tokens
        if calls:
            pace = _Pace(calls, seconds, len(part))
        if stop.status:
            if stop.status == "backend":
                raise BackendError(stop.words, fatal=True)
            done.stopped = stop.words
            break
    return pace


async def _all(
    review: Review, store: Store, backends: Mapping[str, Backend], bound: Sequence[Bound], recorder: Recorder,
    paces: Mapping[str, _Pace], done: Estimated, seed: int,
) -> None:  # fmt: skip
    for item in bound:
        name = item.stage.name
        known = await _stage(review, store, backends, item, recorder, pending(store, name), paces.get(name), seed, at_most=False)
        done.stages.append(known)
        later = still_to_come(store, [other.stage.name for other in bound[: item.position]], name)
        if later:
            done.stages.append(await _stage(review, store, backends, item, recorder, later, paces.get(name), seed, at_most=True))


def still_to_come(store: Store, upstream: Sequence[str], name: str) -> list[str]:
    """Records that wait at an earlier stage and may still come to this one; where it reads reports, those that have one."""
    if not upstream:
        return []
    waits = " union ".join(
        f"select record_id from {stage} where state in ('pending', 'referred', 'not retrieved')" for stage in upstream
    )
    having = "join current_documents using (record_id)" if name in NEEDS_TEXT else ""
    rows = store.rows(
        f"select records.record_id from ({waits}) waiting join records using (record_id) {having} "
        f"where records.record_id not in (select record_id from {name}) order by records.seq"
    )
    return [row[0] for row in rows]


async def _stage(
    review: Review, store: Store, backends: Mapping[str, Backend], item: Bound, recorder: Recorder, ids: Sequence[str],
    pace: _Pace | None, seed: int, *, at_most: bool,
) -> StageEstimate:  # fmt: skip
    name, notes = item.stage.name, []
    draw = random.Random(f"{seed} {name} {at_most}")
    most = WALKED[item.stage.needs_text]
    looked = sorted(draw.sample(range(len(ids)), most)) if len(ids) > most else range(len(ids))
    waiting: list[Waiting] = []
    by_record: dict[str, int] = {}
    async for walked in walk(item, store, [ids[place] for place in looked], recorder, backends):
        for waits in walked.waiting.values():
            waiting.append(waits)
            by_record[waits.record_id] = by_record.get(waits.record_id, 0) + 1
    counts = [*by_record.values(), *([0] * (len(looked) - len(by_record)))]
    first = of_counts(counts, len(ids))
    measured = _measured(store, item)
    repairs = measured["later"] / measured["first"] if measured["first"] else None
    requests = first.times(1 + (repairs or 0.0))
    if repairs is None and first.value:
        notes.append("no answer of this stage is stored yet: repairs are not counted")
    prompt, answer = None, None
    if first.value:
        prompt = await _prompt_tokens(store, item, backends, waiting, requests, draw, notes)
        answer = _answer_tokens(waiting, measured, requests, notes)
    seconds = _seconds(pace, requests, notes) if first.value else Span(0.0, 0.0, 0.0)
    if not first.value:
        prompt = answer = seconds
    gpus = _gpus(review.protocol, item)
    return StageEstimate(name, at_most, len(ids), requests, repairs, prompt, answer, seconds, gpus, tuple(notes))


def _measured(store: Store, item: Bound) -> dict[str, Any]:
    """What stored calls of this stage by its own models say: how many first and later questions, and tokens of the answers."""
    models = sorted({reader.model.name for reader in item.stage.readers.values() if reader.model})
    rows = store.rows(
        "select purpose in ('ask', 'part', 'recover'), count(*), avg(completion_tokens), stddev_samp(completion_tokens), "
        "count(completion_tokens) from calls where stage = ? and model in (select unnest(?::text[])) group by 1",
        [item.stage.name, models],
    )
    told = {bool(row[0]): row[1:] for row in rows}
    first, later = told.get(True, (0, None, None, 0)), told.get(False, (0, None, None, 0))
    return {"first": first[0], "later": later[0], "mean": first[1], "spread": first[2], "counted": first[3]}


async def _prompt_tokens(
    store: Store, item: Bound, backends: Mapping[str, Backend], waiting: Sequence[Waiting], requests: Span,
    draw: random.Random, notes: list[str],
) -> Span:  # fmt: skip
    """Tokens of all prompts: a few counted by the engine's own tokenizer, with what its template adds as measured."""
    chosen = draw.sample(waiting, min(COUNTED, len(waiting)))
    per_request: list[float] = []
    for via in dict.fromkeys(waits.request.via for waits in chosen):
        mine = ["\n".join(message.content for message in waits.request.messages) for waits in chosen if waits.request.via == via]
        counted = await _count(backends[via], mine)
        if counted is None:
            notes.append(f"model '{via}' has no tokenizer that can be asked: tokens are guessed from characters")
            per_request += [len(text) / GUESS + TEMPLATE / 2 for text in mine]
        else:
            added = await _template(store, item, via, backends)
            per_request += [count + added for count in counted]
    return of_sample(per_request, requests, whole=len(chosen) == len(waiting))


async def _count(backend: Backend, texts: Sequence[str]) -> list[int] | None:
    """As the backend counts; None also where it is gone or busy, for an estimate may guess."""
    try:
        return await backend.count(texts)
    except BackendError:
        return None


async def _template(store: Store, item: Bound, via: str, backends: Mapping[str, Backend]) -> float:
    """Tokens that the chat template adds to a prompt: by stored calls, told ones less counted ones; else some of its room."""
    models = sorted({reader.model.name for reader in item.stage.readers.values() if reader.model and reader.via == via})
    rows = store.rows(
        "select prompt_tokens, request from calls where stage = ? and model in (select unnest(?::text[])) "
        "and prompt_tokens is not null order by seq desc limit 8",
        [item.stage.name, models],
    )
    texts = ["\n".join(message["content"] for message in json.loads(row[1])["messages"]) for row in rows]
    counted = await _count(backends[via], texts) if texts else None
    if not counted:
        return TEMPLATE / 4
    added = [int(row[0]) - count for row, count in zip(rows, counted, strict=True)]
    return sum(added) / len(added)


def _answer_tokens(waiting: Sequence[Waiting], measured: Mapping[str, Any], requests: Span, notes: list[str]) -> Span:
    """Tokens of all answers: as stored calls of the stage had them, else anything up to what they may have."""
    if measured["counted"]:
        spread = (measured["spread"] or 0.0) / measured["counted"] ** 0.5 * 1.96
        mean = float(measured["mean"])
        return Span(mean, max(1.0, mean - spread), mean + spread).by(requests)
    most = max(waits.request.sampling.max_tokens for waits in waiting)
    notes.append(f"no answer of this stage is stored yet: 1 to {most} tokens each")
    return Span(float(most), 1.0, float(most)).by(requests)


def _seconds(pace: _Pace | None, requests: Span, notes: list[str]) -> Span | None:
    if pace is None:
        notes.append("time is not measured; ask a sample of this stage (--sample 8)")
        return None
    notes.append(
        f"time is that of {pace.calls} call(s), {pace.at_once} record(s) at once; with more at once an engine is usually faster"
    )
    return requests.times(pace.seconds / pace.calls)


def _gpus(protocol: Protocol, item: Bound) -> int:
    """GPUs that work at a stage: of every model the endpoints, times what one engine is spread over."""
    names = {protocol.readers[name].model for name in names_of(item.spec)}
    total = 0
    for name in sorted(name for name in names if name):
        spec = protocol.models[name]
        spread = 1
        for key in ("tensor_parallel_size", "pipeline_parallel_size", "data_parallel_size"):
            value = spec.vllm.get(key)
            spread *= value if isinstance(value, int) and value > 0 else 1
        total += max(1, len(spec.endpoints)) * spread
    return total
