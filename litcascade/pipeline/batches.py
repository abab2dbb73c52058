"""Batch files: the questions that wait, for `vllm run-batch` on another machine, and its replies read back into the store."""

import json
import uuid
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

from litcascade import __version__
from litcascade.backends.batch_files import batch_line, read_batch
from litcascade.errors import InputError
from litcascade.pipeline.binding import Bound, bind, names_of
from litcascade.pipeline.exporting import require_free
from litcascade.pipeline.recorder import Recorder
from litcascade.pipeline.review import Review
from litcascade.pipeline.run import require_amendment, store_protocol, store_versions
from litcascade.pipeline.subjects import pending
from litcascade.pipeline.walking import Waiting, walk
from litcascade.schemas import ModelRef, Reply, Verdict
from litcascade.store import Store, now

SHOWN = 20


@dataclass
class Written:
    """What was written: a file for each model with its lines, the records that wait by stage, and verdicts on the way.

    The verdicts are those that stored replies gave without any question.
    """

    files: dict[str, tuple[Path, int]] = field(default_factory=dict)
    waiting: dict[str, int] = field(default_factory=dict)
    verdicts: int = 0


@dataclass
class Read:
    """What a file of replies came to. `left_out` counts lines without a usable reply by why, `lines` names the first of them.

    `waiting` and `still` are records and questions that wait after it, by stage and in all.
    """

    replies: int = 0
    already_here: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    lines: list[str] = field(default_factory=list)
    verdicts: int = 0
    waiting: dict[str, int] = field(default_factory=dict)
    still: int = 0

    def leave_out(self, number: int, kind: str, words: str) -> None:
        """Count a line that gave no reply."""
        self.left_out[kind] += 1
        if len(self.lines) < SHOWN:
            self.lines.append(f"line {number}: {words}")


def models_of_last_run(review: Review, store: Store) -> dict[str, ModelRef]:
    """Each model as the last run knew it, where the protocol still declares the same model and revision."""
    rows = store.rows("select models from runs where models is not null order by seq desc")
    found: dict[str, ModelRef] = {}
    for row in rows:
        for name, told in json.loads(row[0]).items():
            declared = review.protocol.models.get(name)
            ref = ModelRef.model_validate(told)
            if declared is None or name in found or ref.name != declared.model:
                continue
            if declared.revision and declared.revision.removeprefix("sha256:") != ref.revision:
                continue
            found[name] = ref
    return found


def used_models(review: Review) -> list[str]:
    """The models that the protocol's stages ask."""
    used: dict[str, None] = {}
    for _, spec in review.protocol.stages.items():
        for reader in names_of(spec):
            model = review.protocol.readers[reader].model
            if model:
                used.setdefault(model)
    return list(used)


async def write_batch(
    review: Review, store: Store, models: Mapping[str, ModelRef], path: Path, *, force: bool = False
) -> Written:
    """Write every question that waits, at any stage, first ones and repairs alike; one file where one model is asked.

    With several, `FILE` becomes one file for each, with the model's name before the ending. Where nothing waits no file is
    written. Raises `InputError` where a file is there already, unless `force`.
    """
    recorder, bound = begin(review, store, models)
    done = Written()
    parts: dict[str, tuple[Path, TextIO]] = {}
    counts: Counter[str] = Counter()
    used = used_models(review)
    targets = {name: path if len(used) == 1 else path.with_name(f"{path.stem}.{name}{path.suffix}") for name in used}
    for target in targets.values():
        require_free(review, target, force)
    if not path.parent.is_dir():
        raise InputError(f"{path.parent}: there is no such folder")
    try:
        for item in bound:
            async for walked in walk(item, store, pending(store, item.stage.name), recorder):
                await keep(recorder, item, walked.verdicts)
                done.verdicts += len(walked.verdicts)
                done.waiting[item.stage.name] = done.waiting.get(item.stage.name, 0) + walked.records
                for waits in walked.waiting.values():
                    name = waits.request.via
                    if name not in parts:
                        part = targets[name].with_name(targets[name].name + ".part")
                        parts[name] = part, part.open("w", encoding="utf-8")
                    parts[name][1].write(batch_line(review.protocol.models[name], waits.request))
                    counts[name] += 1
        for name, (part, out) in parts.items():
            out.close()
            part.replace(targets[name])
            done.files[name] = targets[name], counts[name]
    finally:
        for part, out in parts.values():
            out.close()
            part.unlink(missing_ok=True)
    return done


async def read_replies(review: Review, store: Store, models: Mapping[str, ModelRef], path: Path) -> Read:
    """Store the replies of a file under the keys they were asked with, and the verdicts that follow from them.

    A line that is torn, failed, foreign (no such question waits) or said twice is left out and named; its question stays to be
    asked. Raises `InputError` where the replies come from another engine than the batch was written for.
    """
    if not path.is_file():
        raise InputError(f"{path}: there is no such file of replies")
    recorder, bound = begin(review, store, models)
    done = Read()
    replies = _sorted_out(path, {model.engine for model in models.values()}, done)
    for item in bound:
        await _settle(item, store, recorder, replies, done)
    known = await recorder.known(list(replies))
    for key, (number, _) in replies.items():
        if key in known:
            done.already_here += 1
        else:
            done.leave_out(number, "foreign", f"{key}: no such question waits in this review")
    await recorder.flush()
    return done


async def _settle(item: Bound, store: Store, recorder: Recorder, replies: dict[str, tuple[int, Reply]], done: Read) -> None:
    """Take a stage as far as it comes: each reply may bring up another question that the file answers too."""
    while True:
        waiting: dict[str, Waiting] = {}
        left = 0
        async for walked in walk(item, store, pending(store, item.stage.name), recorder):
            await keep(recorder, item, walked.verdicts)
            done.verdicts += len(walked.verdicts)
            left += walked.records
            waiting |= walked.waiting
        answered = [key for key in waiting if key in replies]
        if not answered:
            done.waiting[item.stage.name] = left
            done.still += len(waiting)
            return
        for key in answered:
            waits = waiting[key]
            reader = item.stage.readers[waits.reader]
            recorder.call(item.stage.name, waits.record_id, reader, waits.request, replies.pop(key)[1])
            done.replies += 1
        await recorder.flush()


def _sorted_out(path: Path, engines: set[str], done: Read) -> dict[str, tuple[int, Reply]]:
    """The whole replies of a file by key with their lines; the others are counted and named."""
    replies: dict[str, tuple[int, Reply]] = {}
    for line in read_batch(path):
        if line.engine is not None and not {line.engine, "vllm"} & engines:
            raise InputError(
                f"{path}: line {line.number} comes from {line.engine}, but the batch was written for {' and '.join(engines)}; "
                f"write it again with --engine MODEL='{line.engine}', so that replies are kept under the engine they came from"
            )
        if line.reply is None or line.key is None:
            kind = line.fault.partition(":")[0]
            done.leave_out(line.number, kind, f"{line.key or 'no key'}: {line.fault}")
        elif line.key in replies:
            done.leave_out(line.number, "said twice", f"{line.key}: said twice; the first one counts")
        else:
            replies[line.key] = line.number, line.reply
    return replies


def begin(review: Review, store: Store, models: Mapping[str, ModelRef]) -> tuple[Recorder, list[Bound]]:
    """Put the protocol and its fingerprints in force, as a run does, and say that this is one."""
    if not store.value("select count(*) from records"):
        raise InputError("the review holds no records yet; import some with `litcascade import FILE`")
    require_amendment(review, store)
    run_id = f"batch-{uuid.uuid4().hex[:12]}"
    store_protocol(review, store)
    bound = bind(review, models, store)
    described = json.dumps({name: model.model_dump() for name, model in models.items()})
    row = {"run_id": run_id, "at_time": now(), "protocol_hash": review.protocol.hash(), "models": described}
    store.append("runs", [{**row, "code_version": f"litcascade {__version__}, batch files"}])
    store_versions(store, run_id, bound)
    return Recorder(store, run_id), bound


async def keep(recorder: Recorder, item: Bound, verdicts: Sequence[Verdict]) -> None:
    """Store verdicts that stored replies gave."""
    for verdict in verdicts:
        recorder.verdict(verdict, item.fingerprint)
    await recorder.flush()
