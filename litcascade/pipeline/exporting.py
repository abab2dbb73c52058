"""Exports: records with their decisions, the queue for people, extractions, recorded replies."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

from litcascade.backends.recorded import write_recording
from litcascade.corpora.found_labels import BY_MODEL
from litcascade.corpora.writers import WRITERS, About, Answer, Row, Written, format_of, write_table
from litcascade.errors import InputError
from litcascade.pipeline.exporting_fields import export_group_rows, export_long, export_to_check, export_wide
from litcascade.pipeline.review import PROTOCOL_NAME, Review
from litcascade.pipeline.sinks import reply_from
from litcascade.pipeline.subjects import load_records
from litcascade.registry import Registry
from litcascade.schemas import SCREENING, ModelRef
from litcascade.store import Store

Exporter = Callable[[Review, Store, Path], int | Written]
EXPORTERS: Registry[Exporter] = Registry("export")
_BATCH = 2_000


def require_free(review: Review, path: Path, force: bool) -> None:
    """Refuse to write over the review's own files, ever, and over any file that is there unless told to."""
    if path.is_dir():
        raise InputError(f"{path}: is a folder; name a file")
    own = {review.store_path, review.folder / PROTOCOL_NAME, review.events_path, review.checkpoints_path}
    if path.resolve() in {mine.resolve() for mine in own}:
        raise InputError(f"{path}: is part of the review itself; name another file")
    if path.exists() and not force:
        raise InputError(f"{path}: is there already (decisions may have been filled in); name another file, or add --force")


def export(review: Review, store: Store, what: str, path: Path, *, force: bool = False) -> Written:
    """Write an export; returns how many rows, and what a person should know. The file appears whole or not at all."""
    exporter = EXPORTERS.get(what)
    require_free(review, path, force)
    if not path.parent.is_dir():
        raise InputError(f"{path.parent}: there is no such folder")
    part = path.with_name(path.name + ".part")
    try:
        done = exporter(review, store, part)
        part.replace(path)
    finally:
        if part.is_dir():
            shutil.rmtree(part)
        part.unlink(missing_ok=True)
    return done if isinstance(done, Written) else Written(done)


def _states(review: Review, store: Store) -> dict[str, dict[str, str]]:
    states: dict[str, dict[str, str]] = {}
    for stage, _ in review.protocol.stages.items():
        for record_id, state, by in store.rows(f"select record_id, state, decided_by from {stage}"):
            model = by == "model" and state in ("included", "excluded")
            states.setdefault(record_id, {})[stage] = f"{state}{BY_MODEL}" if model else state
    return states


@EXPORTERS.register("records")
def export_records(review: Review, store: Store, path: Path) -> Written:
    """All records with their state at each stage, in the format that the file's ending names."""
    return _write(review, store, path, format_of(path))


def _write(review: Review, store: Store, path: Path, writer: str) -> Written:
    """Records with states (and, in the question-answer shape, extracted values), batch by batch."""
    states = _states(review, store)
    answers = _answers(review, store) if writer == "hf_qa" else {}
    ids = [row[0] for row in store.rows("select record_id from records order by seq")]
    rows = (
        Row(record, states.get(record.record_id, {}), answers.get(record.record_id, ()))
        for start in range(0, len(ids), _BATCH)
        for record in load_records(store, ids[start : start + _BATCH])
    )
    return WRITERS.get(writer)(path, rows, _about(review))


def _about(review: Review) -> About:
    stages = tuple(stage for stage, _ in review.protocol.stages.items())
    screening = [stage for stage in stages if stage in SCREENING]
    first = screening[0] if screening else "title_abstract"
    criteria = "\n".join(f"{c.kind}: {c.text}" for c in review.protocol.criteria_for(first))
    title = review.protocol.review.title
    return About(title, stages, review.protocol.review.question, criteria, screening[-1] if screening else first)


def _answers(review: Review, store: Store) -> dict[str, tuple[Answer, ...]]:
    questions = {spec.name: spec.definition or spec.name for spec in review.protocol.fields}
    found: dict[str, list[Answer]] = {}
    for record_id, name, value in store.rows("select record_id, field, value from extracted order by seq"):
        said = json.loads(value) if value is not None else None
        text = "; ".join(map(str, said)) if isinstance(said, list) else None if said is None else str(said)
        found.setdefault(record_id, []).append(Answer(name, questions.get(name, name), text))
    return {record_id: tuple(answers) for record_id, answers in found.items()}


def _shape(writer: str) -> Exporter:
    def write(review: Review, store: Store, path: Path) -> Written:
        return _write(review, store, path, writer)

    return write


for _name in ("hf_text", "hf_pair", "hf_qa"):
    EXPORTERS.register(_name)(_shape(_name))


@EXPORTERS.register("queue")
def export_queue(_: Review, store: Store, path: Path) -> int:
    """What waits for people, with an empty column `decision` to fill in and import again."""
    header = ["record_id", "stage", "decision", "criterion", "who", "note", "why", "score", "title", "abstract", "criteria"]
    rows = store.rows(
        "select queue.record_id, stage, '', '', '', '', concat_ws(': ', coalesce(code, state), reason), round(score, 4), "
        "title, abstract, criteria_hash from queue join records using (record_id) left join current_stages using (stage) "
        "order by stage desc, score desc nulls first, records.seq"
    )
    path.write_text(write_table(header, (dict(zip(header, row, strict=True)) for row in rows)), encoding="utf-8", newline="")
    return len(rows)


EXPORTERS.register("extractions")(export_long)
EXPORTERS.register("extractions_wide")(export_wide)
EXPORTERS.register("extraction_rows")(export_group_rows)
EXPORTERS.register("extractions_to_check")(export_to_check)


@EXPORTERS.register("replies")
def export_replies(_: Review, store: Store, path: Path) -> int:
    """Every stored reply with its request key, for a model with backend = "recorded"."""
    rows = store.rows(
        "select key, text, reasoning, finish_reason, refused, prompt_tokens, cached_tokens, completion_tokens, seconds, "
        "logprobs, raw, model, revision, engine from calls order by seq"
    )
    with path.open("w", encoding="utf-8") as out:
        out.writelines(
            write_recording((ModelRef(name=row[11], revision=row[12], engine=row[13]), reply_from(row[:11])) for row in rows)
        )
    return len(rows)
