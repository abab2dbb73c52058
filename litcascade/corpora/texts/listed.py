"""A list that says which file is the full text of which record."""

from pathlib import Path

from litcascade.corpora.labels import read_table
from litcascade.errors import InputError


def read_list(path: Path, known: set[str]) -> tuple[dict[Path, str], list[tuple[str, str]]]:
    """(File to record id, files that are not there with the reason) of a table with record_id and path.

    Paths are relative to the list. A record that the review does not have refuses the whole list; two rows for one file, too.
    """
    names, rows = read_table(path)
    if not {"record_id", "path"} <= set(names):
        raise InputError(f"{path}: a list of full texts has the columns record_id and path (found: {', '.join(names)})")
    given: dict[Path, str] = {}
    missing: list[tuple[str, str]] = []
    for line, row in rows:
        record_id, name = row["record_id"].strip(), row["path"].strip()
        if not name:
            continue
        if record_id not in known:
            raise InputError(f"{path}: line {line}: '{record_id}' is no record of the review; nothing was imported")
        file = (path.parent / name).resolve()
        if not file.is_file():
            missing.append((name, f"line {line}: there is no such file"))
        elif file in given:
            raise InputError(f"{path}: line {line}: '{name}' stands there twice; keep one row")
        else:
            given[file] = record_id
    return given, missing
