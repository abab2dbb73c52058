"""Asking for labels over shuffled subsets of a field's items, and writing what they come to for a person to edit."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from litcascade.errors import InputError
from litcascade.pipeline.asking import asking
from litcascade.pipeline.executor import Spent
from litcascade.pipeline.harmonising.binding import Backends, begin, bound_reader, chunks, model_of, require_items
from litcascade.pipeline.harmonising.recording import HarmoniseRecorder, stored_proposals
from litcascade.pipeline.judging.units import steering
from litcascade.pipeline.observing import Observer
from litcascade.pipeline.review import Review
from litcascade.schemas import Record
from litcascade.stages.harmonising import (
    Drawn,
    Propose,
    SubsetSubject,
    distinct,
    draw,
    is_untouched,
    proposals_text,
    put_together,
)
from litcascade.store import Store


@dataclass(frozen=True)
class Proposals:
    """How it ended: a status of `pipeline.run.EXIT` with its words; `file` is None where none was written.

    `failures` are subsets without a proposal, by reason; `never_shown` items stood in no subset, `steering` ones were kept back,
    `unread` values could not be read when they were extracted.
    """

    run_id: str
    status: str
    words: str
    file: Path | None
    labels: int
    subsets: int
    items: int
    never_shown: int
    steering: int
    unread: int
    failures: dict[str, int]
    spent: Spent


async def propose(
    review: Review, store: Store, name: str, reader: str, path: Path, *, samples: int = 5, size: int = 40, seed: int = 0,
    force: bool = False, observer: Observer | None = None, backends: Backends = None, probed: bool = True,
) -> Proposals:  # fmt: skip
    """Ask for labels over `samples` shuffled subsets of `size` distinct items, and write what they come to for a person to edit.

    Nothing is written while a subset waits for its reply, or where none could be read. A file in which a person has written is
    an `InputError` unless `force` is given, and so is a field without items; `BackendError` where the model cannot be reached.
    """
    require_untouched(path, force)
    if samples < 1 or size < 2:
        raise InputError("--samples must be 1 at least and --size 2 at least")
    found = require_items(review, store, name)
    clean = [text for text in distinct([item.text for item in found.items]) if steering(text) is None]
    kept_back = len(distinct([item.text for item in found.items])) - len(clean)
    if len(clean) < 2:
        raise InputError(f"the field '{name}' has {len(clean)} item(s) that may be shown; labels need two at least")
    drawn = draw(clean, samples, size, seed)
    model = model_of(review, reader)
    async with asking(review, store, model, "propose", observer, backends, probed=probed, wants_json=True) as (run, ref):
        stage = Propose(bound_reader(review, reader, ref), name, found.definition)
        begin(run, stage, "propose", name)
        subjects = [
            SubsetSubject(record=Record(record_id=f"subset {number}"), number=number, items=items)
            for number, items in enumerate(drawn.subsets, start=1)
        ]
        known = stored_proposals(store, stage.fingerprint)
        fresh = [one for one in {one.subset_id: one for one in subjects}.values() if one.subset_id not in known]
        async with run.stoppable():
            recorder = HarmoniseRecorder(store, run.run_id, name)
            await run.put(f"propose labels of {name}", len(fresh), stage, stage.fingerprint, recorder, chunks(fresh))
        told = stored_proposals(store, stage.fingerprint)
        left = sum(one.subset_id not in told for one in subjects)
        answered = {one.number: told[one.subset_id][0] for one in subjects if one.subset_id in told}
        right = {number: proposal for number, proposal in answered.items() if proposal is not None}
        failures = Counter(str(told[one.subset_id][1]) for one in subjects if answered.get(one.number, 0) is None)
        together = put_together(right, [one.items for one in subjects if one.number in right])
        status, words = run.ending(left, bool(left), f"{len(right)} of {len(subjects)} subset(s) gave labels")
        written = None
        if status == "complete" and together.candidates:
            notes = _notes(drawn, clean, kept_back, found.unread, failures, f"{reader} ({ref}), seed {seed}")
            written = write_proposals(path, proposals_text(name, together, notes))
        elif status == "complete":
            words = "no subset gave labels that could be read, so no file was written"
        return Proposals(
            run.run_id, status, words, written, len(together.candidates), len(subjects), len(clean), drawn.never_shown,
            kept_back, found.unread, dict(failures), run.spent,
        )  # fmt: skip


def require_untouched(path: Path, force: bool) -> None:
    """Refuse to write over a file in which a person may have written."""
    if path.is_dir():
        raise InputError(f"{path}: is a folder; name a file")
    if path.exists() and not force and not is_untouched(path.read_text(encoding="utf-8", errors="replace")):
        raise InputError(f"{path}: has been edited since it was written; name another file with --into, or add --force")


def write_proposals(path: Path, text: str) -> Path:
    """Write the file whole or not at all; its folder is made where it is not there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    part.write_text(text, encoding="utf-8")
    part.replace(path)
    return path


def _notes(drawn: Drawn, shown: Sequence[str], kept_back: int, unread: int, failures: Mapping[str, int], who: str) -> list[str]:
    """What a person should know of the proposals, a line each."""
    notes = [f"Proposed by {who}; {len(drawn.subsets)} subsets of {len(drawn.subsets[0])} of {len(shown)} distinct items."]
    if drawn.never_shown:
        notes.append(f"{drawn.never_shown} item(s) stood in no subset; raise --samples or --size.")
    if kept_back:
        notes.append(f"{kept_back} item(s) with text that may steer the reader were not shown.")
    if unread:
        notes.append(f"{unread} value(s) of the field could not be read when they were extracted.")
    notes += [f"{count} subset(s) without a proposal: {' '.join(why.split())}" for why, count in failures.items()]
    return notes
