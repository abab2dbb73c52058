"""An archive run again without a model: its review rebuilt, its verdicts derived from raw replies, its numbers computed anew."""

import asyncio
import json
import platform
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from litcascade import __version__
from litcascade.errors import InputError
from litcascade.pipeline.archiving.binding import archived_review, rebound
from litcascade.pipeline.archiving.choosing import derivable
from litcascade.pipeline.archiving.comparing import Compared, compare, take_places
from litcascade.pipeline.archiving.deriving import DerivedSink, derive
from litcascade.pipeline.archiving.files import working_folder
from litcascade.pipeline.archiving.manifest import Manifest
from litcascade.pipeline.archiving.numbers import count_of, differences, numbers_of
from litcascade.pipeline.archiving.reading import Unpacked, unpack
from litcascade.pipeline.archiving.rebuilding import KEYS, Expected, fill
from litcascade.pipeline.archiving.tables import ASKED, Tell, silent
from litcascade.pipeline.review import PROTOCOL_NAME, Review
from litcascade.schemas import Protocol, parse_protocol
from litcascade.store import FILE_NAME, Store, now


@dataclass(frozen=True)
class Replayed:
    """What a replay came to.

    `tables` compare what was derived with what is archived, `numbers` are (where, archived, computed) of those that differ, of
    `numbers_compared`. `carried` maps what could not be derived and was taken as it stands to its rows, `pending` maps stages to
    records without a verdict (they stay so), `cannot` and `notes` are sentences. `folder` is where the review stands, if
    anywhere.
    """

    manifest: Manifest
    tables: tuple[Compared, ...]
    numbers: tuple[tuple[str, Any, Any], ...]
    numbers_compared: int
    carried: dict[str, int]
    pending: dict[str, int]
    cannot: tuple[str, ...]
    notes: tuple[str, ...]
    folder: Path | None = None

    @property
    def same(self) -> bool:
        """Whether every verdict that can be derived, and every number, came out as archived."""
        return not self.numbers and all(table.equal for table in self.tables)


def replay_archive(path: Path, into: Path | None = None, *, tell: Tell = silent) -> Replayed:
    """Check an archive, rebuild its review, derive every verdict again from stored replies, and compare with what is archived.

    No model is asked and nothing is sent. With `into` (a folder that is not there yet, or empty) the review stays there, whole or
    not at all. Raises `InputError` for an archive that is damaged, foreign, newer than this program, or absurd.
    """
    if into is not None and into.exists() and (not into.is_dir() or any(into.iterdir())):
        raise InputError(f"{into}: is there already; name a folder that is not there yet")
    with _workplace(into) as working:
        unpacked = unpack(path, _made(working / "archive"), tell)
        home = _made(working / "review")
        replayed = _replay(path, unpacked, home, tell)
        if into is None:
            return replayed
        if into.exists():
            into.rmdir()
        home.rename(into)
        return Replayed(**{**vars(replayed), "folder": into})


@contextmanager
def _workplace(into: Path | None) -> Iterator[Path]:
    if into is None:
        import tempfile

        with tempfile.TemporaryDirectory(prefix="litcascade-replay-") as folder:
            yield Path(folder)
        return
    if not into.resolve().parent.is_dir():
        raise InputError(f"{into.parent}: there is no such folder")
    with working_folder(into.resolve()) as folder:
        yield folder


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


def _replay(path: Path, unpacked: Unpacked, home: Path, tell: Tell) -> Replayed:
    _copy_protocol(path, unpacked, home)
    text = (home / PROTOCOL_NAME).read_text(encoding="utf-8")
    protocol = parse_protocol(text, f"the protocol in {path}")
    review = archived_review(Review(home, text, protocol, {}), text, unpacked.binding)
    run_id = f"replay-{uuid.uuid4().hex[:12]}"
    with Store(home / FILE_NAME, create=True) as store:
        _require_derivable(path, unpacked)
        expected = fill(store, unpacked, protocol, tell)
        _require_in_force(path, unpacked, store, protocol)
        notes, sink = _derive(review, unpacked, expected, store, run_id, tell)
        tables = compare(store, expected, run_id, sink.unanswered)
        take_places(store, expected, run_id)
        tell("numbers", 0, 1)
        found = json.loads(json.dumps(numbers_of(review, store)))
        archived = unpacked.numbers if unpacked.manifest.gold else {**unpacked.numbers, "scores": None}
        found = found if unpacked.manifest.gold else {**found, "scores": None}
        changed = tuple(differences(archived, found))
        tell("numbers", 1, 1)
        replayed = Replayed(
            unpacked.manifest, tuple(tables), changed, count_of(archived), _carried(store, expected, unpacked),
            {stage["stage"]: stage["states"].get("pending", 0) for stage in found["ledger"]}, _cannot(unpacked), tuple(notes),
        )  # fmt: skip
        _tell_store(store, unpacked, review, run_id, replayed)
    return replayed


def _require_derivable(path: Path, unpacked: Unpacked) -> None:
    """What can be derived again follows from what is in; a manifest that says otherwise would spare verdicts the comparison."""
    manifest, binding = unpacked.manifest, unpacked.binding
    if binding.blanked and manifest.abstracts and manifest.gold:
        raise InputError(f"{path}: binding.json leaves out worked examples, but abstracts and gold labels are in; get it again")
    found = {item.stage for item in binding.stages if derivable(item.stage, manifest.abstracts, manifest.texts, binding.blanked)}
    odd = sorted(found ^ set(manifest.derivable))
    if odd:
        words = "can be derived again" if odd[0] in found else "cannot be derived again"
        raise InputError(
            f"{path}: the stage '{odd[0][:40]}' {words} by what is in, but manifest.json says otherwise; get it again"
        )


def _require_in_force(path: Path, unpacked: Unpacked, store: Store, protocol: Protocol) -> None:
    """The stages of the binding are those that the archived store has in force."""
    known = {name for name, _ in protocol.stages.items()}
    in_force = set(store.rows("select stage, fingerprint, criteria_hash from current_stages"))
    stated = {(item.stage, item.fingerprint, item.criteria_hash) for item in unpacked.binding.stages}
    odd = sorted({row for row in in_force if row[0] in known} ^ stated)
    if odd:
        raise InputError(
            f"{path}: binding.json and the archived tables do not agree on the stage '{odd[0][0][:40]}'; get it again"
        )


def _copy_protocol(path: Path, unpacked: Unpacked, home: Path) -> None:
    for entry in unpacked.manifest.files:
        if entry.path.startswith("protocol/"):
            target = home / entry.path.removeprefix("protocol/")
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(unpacked.folder / entry.path, target)
    if not (home / PROTOCOL_NAME).is_file():
        raise InputError(f"{path}: holds no protocol (protocol/{PROTOCOL_NAME}); make it again with `litcascade archive`")


def _derive(
    review: Review, unpacked: Unpacked, expected: Expected, store: Store, run_id: str, tell: Tell
) -> tuple[list[str], DerivedSink]:
    """Derive every stage that can be; returns what a person should know, and the sink."""
    manifest, sink, notes = unpacked.manifest, DerivedSink(store), list(unpacked.manifest.notes)
    if manifest.litcascade != __version__:
        notes.append(f"archived by litcascade {manifest.litcascade}, replayed by {__version__}: a difference may come from that")
    notes += [
        f"the mask changed what questions are made of ({where}: {what}); a question or an answer there may be another one"
        for where, what in manifest.masked.items()
        if where.partition(".")[2] in ASKED.get(where.partition(".")[0], ())
    ]
    if not expected.counts["verdicts"]:
        return notes, sink
    stages, fault = rebound(review, unpacked.binding)
    if fault:
        notes.append(fault)
    bound = {item.stage.name: item for item in stages}
    for item in unpacked.binding.stages:
        if item.stage not in manifest.derivable or item.stage not in bound:
            continue
        if item.bound is not None and bound[item.stage].fingerprint != item.bound:
            notes.append(
                f"{item.stage}: this program reads the stage otherwise than the one that archived it; differences are listed"
            )
        try:
            asyncio.run(derive(bound[item.stage], item.fingerprint, expected.files["verdicts"], store, sink, run_id, tell))
        except (ValidationError, ValueError, TypeError) as error:
            words = " ".join(str(error).split())[:160]
            raise InputError(f"the archive's rows for {item.stage} are not what a store holds ({words}); get it again") from None
    return notes, sink


def _carried(store: Store, expected: Expected, unpacked: Unpacked) -> dict[str, int]:
    """Rows of results that were taken as they stand, by what they are."""
    cells = store.value("select count(*) from readings where fingerprint like 'bench:%'")
    carried = {"readings of benchmark cells": int(cells)}
    carried["verdicts of earlier criteria, models or texts, of baselines, and of stages that cannot be derived"] = (
        expected.carried["verdicts"]
    )
    for table, words in (
        ("judgements", "judges' verdicts"), ("judge_calibrations", "judges' calibrations"), ("mappings", "harmonised values"),
        ("comparisons", "comparisons"), ("label_proposals", "proposed labels"), ("schema_candidates", "candidate fields"),
        ("schema_proposals", "schema proposals"), ("panel_rules", "frozen rules of panels"), ("estimates", "stored estimates"),
    ):  # fmt: skip
        carried[words] = unpacked.manifest.tables.get(table, 0)
    return {words: count for words, count in carried.items() if count}


def _cannot(unpacked: Unpacked) -> tuple[str, ...]:
    manifest = unpacked.manifest
    held = [item.stage for item in unpacked.binding.stages if item.stage not in manifest.derivable]
    told = []
    blanked = [stage for stage in held if manifest.abstracts and stage in unpacked.binding.blanked]
    if blanked:
        told.append(
            f"the archive holds no worked examples (each is a label of gold), so the verdicts of {', '.join(blanked)} cannot be "
            "derived again; they are taken as they stand"
        )
    held = [stage for stage in held if stage not in blanked]
    if held:
        what = "titles and abstracts" if not manifest.abstracts else "full texts"
        told.append(
            f"the archive holds no {what}, so the verdicts of {', '.join(held)} cannot be derived again; they are taken as they "
            "stand and the numbers are computed from them"
        )
    if not manifest.gold:
        told.append("the archive holds no gold labels, so the scores cannot be computed again; ledger and verdicts are compared")
    return tuple(told)


def _tell_store(store: Store, unpacked: Unpacked, review: Review, run_id: str, replayed: Replayed) -> None:
    """The replay as a run of the rebuilt review."""
    models = {name: model.model_dump() for name, model in unpacked.binding.models.items()}
    code = f"litcascade {__version__}, Python {platform.python_version()}, replay of an archive"
    row = {"run_id": run_id, "at_time": now(), "protocol_hash": review.protocol.hash(), "code_version": code}
    same = sum(table.same for table in replayed.tables if table.table == next(iter(KEYS)))
    words = f"{same} verdict(s) derived as archived; {'everything is the same' if replayed.same else 'something differs'}"
    store.append("runs", [{**row, "models": json.dumps(models)}])
    store.append(
        "run_ends",
        [{"run_id": run_id, "at_time": now(), "status": "complete", "detail": words, "spent": json.dumps({"calls": 0})}],
    )
