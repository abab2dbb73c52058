"""An archive taken apart, every file against its checksum; what is damaged, foreign or absurd is refused in one sentence."""

import json
import shutil
import zipfile
import zlib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import duckdb
from pydantic import BaseModel, ValidationError

from litcascade.errors import InputError
from litcascade.pipeline.archiving.files import copy_summed, stays_inside
from litcascade.pipeline.archiving.manifest import BINDING, FORMAT, MANIFEST, NUMBERS, Binding, FileEntry, Manifest
from litcascade.pipeline.archiving.masking import quoted
from litcascade.pipeline.archiving.tables import Tell

_MOST_FILES = 200_000
_MOST_SMALL = 256 * 2**20  # bytes of any file that is no Parquet
_PACKED_AT_MOST = 400  # times: what is packed tighter is a bomb; Parquet of ours comes nowhere near
_ROOM = 2**28
T = TypeVar("T", bound=BaseModel)


@dataclass(frozen=True)
class Unpacked:
    """An archive's files in a folder, all checked, with what its JSON files say."""

    folder: Path
    manifest: Manifest
    binding: Binding
    numbers: dict[str, Any]

    def parts(self, table: str) -> list[Path]:
        """The Parquet files of a table, in order."""
        return [self.folder / entry.path for entry in self.manifest.files if entry.table == table]


def unpack(path: Path, folder: Path, tell: Tell) -> Unpacked:
    """Take an archive apart into a folder. Anything that is not as its manifest says is an `InputError` that names the file."""
    if not path.is_file():
        raise InputError(f"{path}: there is no such archive")
    try:
        with zipfile.ZipFile(path) as archive:
            manifest = _manifest(path, archive)
            _require_as_listed(path, archive, manifest)
            _require_room(path, folder, manifest)
            for number, entry in enumerate(manifest.files, start=1):
                target = folder / entry.path
                target.parent.mkdir(parents=True, exist_ok=True)
                with archive.open(entry.path) as source, target.open("wb") as out:
                    size, digest = copy_summed(source, out, entry.bytes)
                if (size, digest) != (entry.bytes, entry.sha256):
                    raise InputError(
                        f"{path}: '{entry.path}' is not what the manifest says it is (its checksum differs); {_AGAIN}"
                    )
                tell("checksums", number, len(manifest.files))
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: is no whole zip ({' '.join(str(error).split())[:120]}); {_AGAIN}") from None
    _require_sums(path, manifest)
    _require_rows(path, folder, manifest)
    numbers = _json(path, (folder / NUMBERS).read_bytes(), NUMBERS)
    binding = _read(path, Binding, (folder / BINDING).read_bytes(), BINDING)
    return Unpacked(folder, manifest, binding, numbers)


_AGAIN = "it was cut short, damaged or changed: get it again from where it came"


def _manifest(path: Path, archive: zipfile.ZipFile) -> Manifest:
    if MANIFEST not in archive.namelist():
        raise InputError(f"{path}: is no archive of litcascade (it holds no {MANIFEST}); make one with `litcascade archive`")
    if archive.getinfo(MANIFEST).file_size > _MOST_SMALL:
        raise InputError(f"{path}: its {MANIFEST} is absurdly large; it is not read")
    content = _json(path, archive.read(MANIFEST), MANIFEST)
    version = content.get("format")
    if not isinstance(version, int) or version < 1:
        raise InputError(f"{path}: is no archive of litcascade (its {MANIFEST} names no format)")
    if version > FORMAT:
        raise InputError(
            f"{path}: has format {version}, this litcascade reads format {FORMAT}; update the program (it was made by litcascade "
            f"{str(content.get('litcascade', 'unknown'))[:40]})"
        )
    manifest = _read(path, Manifest, json.dumps(content).encode(), MANIFEST)
    if not {BINDING, NUMBERS} <= {entry.path for entry in manifest.files}:
        raise InputError(f"{path}: {MANIFEST} names no {BINDING} or no {NUMBERS}; {_AGAIN}")
    return manifest


def _require_as_listed(path: Path, archive: zipfile.ZipFile, manifest: Manifest) -> None:
    """Exactly the files of the manifest, under plain names inside the folder, none a link, none packed beyond reason."""
    infos = archive.infolist()
    names = [info.filename for info in infos]
    listed = [entry.path for entry in manifest.files]
    if len(infos) > _MOST_FILES:
        raise InputError(f"{path}: holds {len(infos):,} files, which no archive does; it is not read")
    for name in [*names, *listed]:
        if not stays_inside(name):
            raise InputError(f"{path}: holds a file named {name[:80]!r}, which would not stay in its folder; it is not read")
    twice = [name for of in (names, listed) for name, count in Counter(of).items() if count > 1]
    if twice:
        raise InputError(f"{path}: holds '{twice[0]}' twice; {_AGAIN}")
    odd = sorted({*names} ^ {*listed, MANIFEST})
    if odd:
        words = "is not named in its manifest" if odd[0] in names else "is missing"
        raise InputError(f"{path}: '{odd[0]}' {words}; {_AGAIN}")
    sizes = {entry.path: entry.bytes for entry in manifest.files}
    for info in infos:
        if (info.external_attr >> 16) & 0o170000 == 0o120000:
            raise InputError(f"{path}: '{info.filename}' is a link; it is not read")
        size = sizes.get(info.filename, info.file_size)
        small = not info.filename.endswith(".parquet")
        if info.file_size != size:
            raise InputError(f"{path}: '{info.filename}' has {info.file_size:,} bytes, its manifest says {size:,}; {_AGAIN}")
        if info.file_size > max(_PACKED_AT_MOST * info.compress_size, 2**20) or (small and info.file_size > _MOST_SMALL):
            raise InputError(
                f"{path}: '{info.filename}' would unpack to {info.file_size:,} bytes, which is absurd; it is not read"
            )


def _require_room(path: Path, folder: Path, manifest: Manifest) -> None:
    needed = sum(entry.bytes for entry in manifest.files)
    free = shutil.disk_usage(folder).free
    if 3 * needed + _ROOM > free:
        raise InputError(
            f"{path}: needs about {(3 * needed + _ROOM) / 2**30:.1f} GB to be taken apart, but only {free / 2**30:.1f} GB are "
            f"free in {folder.parent}; make room, or name a folder elsewhere with --into"
        )


def _require_sums(path: Path, manifest: Manifest) -> None:
    """The rows of a table's parts are together those that the manifest has for it."""
    sums: dict[str, int] = dict.fromkeys(manifest.tables, 0)
    for entry in manifest.files:
        if entry.table is not None and entry.table not in sums:
            raise InputError(
                f"{path}: '{entry.path}' belongs to the table '{entry.table[:40]}', which {MANIFEST} does not name; {_AGAIN}"
            )
        if entry.table is not None:
            sums[entry.table] += entry.rows or 0
    for table, rows in sums.items():
        if rows != manifest.tables[table]:
            raise InputError(
                f"{path}: the parts of the table '{table[:40]}' hold {rows:,} rows, "
                f"{MANIFEST} says {manifest.tables[table]:,}; {_AGAIN}"
            )


def _require_rows(path: Path, folder: Path, manifest: Manifest) -> None:
    """Every Parquet file can be opened, holds the rows that are declared, and does not unpack beyond reason."""
    with duckdb.connect() as connection:
        for entry in manifest.files:
            if entry.table is not None:
                _require_part(path, entry, quoted(str(folder / entry.path)), connection)


def _require_part(path: Path, entry: FileEntry, file: str, connection: duckdb.DuckDBPyConnection) -> None:
    try:
        rows = connection.execute(f"select sum(num_rows)::bigint from parquet_file_metadata({file})").fetchall()[0][0]
        found = connection.execute(f"select coalesce(sum(total_uncompressed_size), 0) from parquet_metadata({file})").fetchall()
    except duckdb.Error as error:
        raise InputError(f"{path}: '{entry.path}' is no Parquet file ({str(error).splitlines()[0][:120]}); {_AGAIN}") from None
    if rows != entry.rows:
        raise InputError(f"{path}: '{entry.path}' holds {rows:,} rows, its manifest says {entry.rows}; {_AGAIN}")
    if found[0][0] > max(_PACKED_AT_MOST * entry.bytes, 2**28) or rows > max(64 * entry.bytes, 2**20):
        raise InputError(f"{path}: '{entry.path}' would unpack to an absurd size; it is not read")


def _json(path: Path, content: bytes, name: str) -> dict[str, Any]:
    try:
        found = json.loads(content)
    except (ValueError, RecursionError):
        raise InputError(f"{path}: '{name}' is not whole JSON; {_AGAIN}") from None
    if not isinstance(found, dict):
        raise InputError(f"{path}: '{name}' is not what it should be; {_AGAIN}")
    return found


def _read(path: Path, kind: type[T], content: bytes, name: str) -> T:
    try:
        return kind.model_validate_json(content)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise InputError(f"{path}: '{name}' cannot be read ({where}: {first['msg']}); {_AGAIN}") from None
