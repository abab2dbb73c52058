"""Steps bound to a reader of the protocol and put in force for a field."""

import json
from collections.abc import Iterator, Mapping, Sequence

from litcascade.backends import Backend
from litcascade.errors import InputError
from litcascade.pipeline.asking import Asking
from litcascade.pipeline.harmonising.items import FieldItems, load_items
from litcascade.pipeline.review import Review
from litcascade.registry import nearest
from litcascade.schemas import ModelRef, Reader
from litcascade.stages import Subject
from litcascade.stages.harmonising import AskingStage
from litcascade.store import Store, now

CHUNK = 256
TOKENS = 8
Backends = Mapping[str, Backend] | None


def model_of(review: Review, reader: str) -> str:
    """The declared model of a reader; an unknown reader or a person is an `InputError`."""
    readers = review.protocol.readers
    if reader not in readers:
        raise InputError(f"there is no reader '{reader}' in review.toml{nearest(reader, readers)}")
    if readers[reader].person:
        raise InputError(f"reader '{reader}' is a person; people edit the labels and decide what is flagged")
    return str(readers[reader].model)


def bound_reader(review: Review, name: str, model: ModelRef) -> Reader:
    """The reader with its model; the steps bring their own prompts, and worked examples are not shown."""
    spec = review.protocol.readers[name]
    return Reader(
        name=name, model=model, via=str(spec.model), temperature=spec.temperature, seed=spec.seed,
        max_tokens=spec.max_tokens or TOKENS, context=review.protocol.models[str(spec.model)].context,
    )  # fmt: skip


def begin(
    run: Asking, stage: AskingStage, step: str, name: str, *, snapshot: str | None = None, version: int | None = None
) -> None:
    """Put a step in force for a field, where it is not already."""
    newest = run.store.rows(
        "select fingerprint, snapshot, version from harmonise_versions where field = ? and step = ? order by seq desc limit 1",
        [name, step],
    )
    if newest and newest[0] == (stage.fingerprint, snapshot, version):
        return
    model = stage.model
    row = {
        "at_time": now(), "run_id": run.run_id, "step": step, "field": name, "fingerprint": stage.fingerprint,
        "reader": stage.reader.name, "model": model.name, "revision": model.revision, "engine": model.engine,
        "snapshot": snapshot, "version": version, "rests_on": json.dumps(stage.rests_on),
    }  # fmt: skip
    run.store.append("harmonise_versions", [row])


def require_items(review: Review, store: Store, name: str) -> FieldItems:
    """The items of a field; none is an `InputError`."""
    found = load_items(review, store, name)
    if not found.items:
        words = f" ({found.unread} value(s) could not be read)" if found.unread else ""
        raise InputError(f"the field '{name}' has no items yet{words}; run the extraction first (litcascade run)")
    return found


def chunks(subjects: Sequence[Subject]) -> Iterator[Sequence[Subject]]:
    """The subjects, so many at a time as the executor takes at once."""
    for start in range(0, len(subjects), CHUNK):
        yield subjects[start : start + CHUNK]
