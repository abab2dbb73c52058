"""Writing an archive: one zip, whole or not at all."""

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path, PurePath
from typing import Any

from litcascade import __version__
from litcascade.errors import InputError
from litcascade.pipeline.archiving.binding import archived_review, binding_of, exemplified
from litcascade.pipeline.archiving.choosing import BESIDE, MADE_ANEW, Asked, Choice, choose
from litcascade.pipeline.archiving.environment import environment
from litcascade.pipeline.archiving.files import ZipWriter, stays_inside, working_folder
from litcascade.pipeline.archiving.manifest import (
    BINDING,
    ENVIRONMENT,
    MANIFEST,
    NUMBERS,
    README,
    Binding,
    FileEntry,
    Manifest,
)  # fmt: skip
from litcascade.pipeline.archiving.masking import mask_of
from litcascade.pipeline.archiving.numbers import numbers_of
from litcascade.pipeline.archiving.readme import readme
from litcascade.pipeline.archiving.rebuilding import NEEDED
from litcascade.pipeline.archiving.rekeying import write_keymap
from litcascade.pipeline.archiving.tables import Part, TableWriter, Tell, silent, tables_of
from litcascade.pipeline.exporting import require_free
from litcascade.pipeline.review import PROTOCOL_NAME, Review
from litcascade.store import Store


@dataclass(frozen=True)
class Archived:
    """An archive that was written: where, its bytes, and its manifest."""

    path: Path
    bytes: int
    manifest: Manifest


def archive_review(
    review: Review, store: Store, path: Path, asked: Asked | None = None, *, force: bool = False, tell: Tell = silent
) -> Archived:
    """Write the review as it stands into one zip; nothing is written to the store.

    An existing file is written over only with `force`, and only once the new one is whole. Raises `InputError` for a name that
    cannot be used, and for a prompt file outside the review's folder.
    """
    require_free(review, path, force)
    if not path.parent.is_dir():
        raise InputError(f"{path.parent}: there is no such folder")
    if path.suffix.lower() != ".zip":
        raise InputError(f"{path}: an archive is a .zip file; name one")
    with working_folder(path.resolve()) as folder:
        made = folder / "archive.zip"
        choice = replace(choose(store, asked or Asked()), exemplified=exemplified(review))
        manifest = _Writer(review, store, folder, choice, tell).write(made)
        made.replace(path)
    return Archived(path, path.stat().st_size, manifest)


class _Writer:
    def __init__(self, review: Review, store: Store, folder: Path, choice: Choice, tell: Tell) -> None:
        self.review = review
        self.store = store
        self.folder = folder
        self.choice = choice
        self.tell = tell
        self.mask = mask_of(review, [row[0] for row in store.rows("select distinct text from protocols") if row[0]])
        self.files: list[FileEntry] = []

    def write(self, target: Path) -> Manifest:
        """Write all files into the zip, the manifest last; returns it."""
        self.zip = ZipWriter(target)
        try:
            manifest = self._contents()
            self._small(MANIFEST, _json(manifest.model_dump(mode="json")))
        except BaseException:
            self.zip.abandon()
            raise
        self.zip.close()
        return manifest

    def _contents(self) -> Manifest:
        text = self.mask.protocol(self.review.text)
        binding, notes = binding_of(self.review, self.store, text, self.mask, self.choice.blanked)
        self._small(f"protocol/{PROTOCOL_NAME}", text)
        for name, source in _prompt_files(self.review, text, binding):
            self._small(f"protocol/{name}", source)
        self._small(BINDING, _json(binding.model_dump(mode="json")))
        self._small(ENVIRONMENT, _json(environment(self.store)))
        self._small(NUMBERS, _json(numbers_of(self.review, self.store)))
        tables, left_out, masked = self._tables()
        manifest = Manifest(
            litcascade=__version__, title=self.review.protocol.review.title, created=_now(), gold=self.choice.gold,
            texts=self.choice.texts, abstracts=self.choice.abstracts,
            derivable=tuple(item.stage for item in binding.stages if self.choice.derivable(item.stage)),
            migrations=tuple(row[0] for row in self.store.rows("select name from migrations order by name")), tables=tables,
            left_out={**left_out, **BESIDE}, blank=self._blank(tables), masked=masked, notes=tuple(notes),
        )  # fmt: skip
        self._small(README, readme(manifest))
        return manifest.model_copy(update={"files": tuple(self.files)})

    def _tables(self) -> tuple[dict[str, int], dict[str, str], dict[str, str]]:
        """Write every table that goes in; returns rows by table, why others stay out, and what was masked."""
        keymap = write_keymap(self.store, self.mask.models, self.folder / "keys") if self.mask.models else None
        writer = TableWriter(self.store, self.folder, self.choice, self.mask, keymap)
        written: dict[str, int] = {}
        left_out: dict[str, str] = {}
        for table, rows in tables_of(self.store).items():
            why = self.choice.drops(table)
            if why is not None:
                if rows or table in MADE_ANEW:
                    left_out[f"table {table}"] = why
                continue
            written[table] = rows
            if not rows and table not in NEEDED:
                continue
            for part in writer.write(table, rows, self.tell):
                self._part(part)
        masked = {**writer.masked}
        if self.mask.protocol(self.review.text) != self.review.text:
            masked[f"protocol/{PROTOCOL_NAME}"] = "logins, keys or folders of the machine it was made on"
        return written, left_out, masked

    def _part(self, part: Part) -> None:
        name = f"tables/{part.path.name}"
        size, digest = self.zip.add(name, part.path)
        self.files.append(FileEntry(path=name, bytes=size, sha256=digest, table=part.table, rows=part.rows))
        part.path.unlink()

    def _small(self, name: str, text: str) -> None:
        path = self.folder / "small"
        path.write_text(self.mask.text(text), encoding="utf-8", newline="")
        size, digest = self.zip.add(name, path)
        self.files.append(FileEntry(path=name, bytes=size, sha256=digest))

    def _blank(self, tables: dict[str, int]) -> dict[str, str]:
        """Columns left empty, with the reason of the first part that leaves them so."""
        blank = {}
        for table in tables:
            for column in self.choice.blanks(table):
                only_gold = column == "labels" or (
                    table == "calls" and (column != "request" or (self.choice.abstracts and self.choice.texts))
                )
                part = "gold" if only_gold else "texts" if table == "documents" else "abstracts"
                reasons = [self.choice.why.get(part), *self.choice.why.values()]
                blank[f"{table}.{column}"] = next(why for why in reasons if why)
        if "calls.request" in blank and self.choice.abstracts:
            blank["calls.request"] += " (requests of title_abstract are in)"
        if self.choice.blanked:
            part = "abstracts" if not self.choice.abstracts else "gold"
            blank[f"worked examples in {BINDING} ({', '.join(self.choice.blanked)})"] = self.choice.why[part]
        return blank


def _prompt_files(review: Review, text: str, binding: Binding) -> Iterator[tuple[str, str]]:
    """Prompt files beside the protocol, by their paths in it."""
    protocol = archived_review(review, text, binding).protocol
    named = {reader.prompt for reader in protocol.readers.values() if reader.prompt}
    named |= set(protocol.bench.prompts) if protocol.bench else set()
    home = review.folder.resolve()
    files = {PurePath(name).as_posix(): name for name in sorted(named) if name.endswith(".md")}
    for plain, name in sorted(files.items()):
        source = review.folder / name
        if not source.is_file():
            continue  # of a reader that no stage uses
        if not source.resolve().is_relative_to(home) or Path(name).is_absolute() or ".." in Path(name).parts:
            raise InputError(
                f"{name}: stands outside the review's folder; put it beside review.toml, so that an archive can hold it"
            )
        if not stays_inside(plain):
            raise InputError(
                f"{name!r}: a prompt file with a backslash or a control sign in its name cannot be archived; name it anew"
            )
        yield plain, source.read_text(encoding="utf-8-sig")


def _now() -> str:
    """The time now, or that of SOURCE_DATE_EPOCH, with which the same store gives the same bytes."""
    given = os.environ.get("SOURCE_DATE_EPOCH", "")
    at = datetime.fromtimestamp(int(given), UTC) if given.isdigit() else datetime.now(UTC)
    return at.isoformat(timespec="seconds")


def _json(content: Any) -> str:
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"
