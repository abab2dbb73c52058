"""Ids of the records of a file: the file's own where it is alone, else made of file name and position."""

from collections import Counter
from collections.abc import Collection, Sequence


def number(given: Sequence[str], stem: str, taken: Collection[str] = ()) -> tuple[list[str], list[str]]:
    """(An id for each record, notes): its own where that is not blank, used once in the file and not `taken`.

    All others get `stem:position`, from 1. An id that two records share would bind a label to the wrong one, so neither
    keeps it; the raw fields still hold it.
    """
    times = Counter(given)
    own = {name for name, count in times.items() if name and count == 1 and name not in taken}
    while any(f"{stem}:{position}" in own or f"{stem}:{position}" in taken for position in range(1, len(given) + 1)):
        stem += "'"
    ids = [name if name in own else f"{stem}:{position}" for position, name in enumerate(given, start=1)]
    return ids, _notes(times, given, taken)


def _notes(times: Counter[str], given: Sequence[str], taken: Collection[str]) -> list[str]:
    blank = times[""]
    repeated = [name for name, count in times.items() if name and count > 1]
    used = [name for name in times if name and name in taken and times[name] == 1]
    notes = []
    made = "; theirs were made of file name and position"
    if blank == len(given) and given:
        notes.append("ids were made of file name and position (the file gives none)")
    elif blank:
        notes.append(f"{blank} record(s) have no id of their own{made}")
    if repeated:
        count = sum(times[name] for name in repeated)
        notes.append(f"{len(repeated)} id(s), such as '{repeated[0]}', are used by {count} records{made}")
    if used:
        notes.append(f"{len(used)} id(s), such as '{used[0]}', are in the review already{made}")
    return notes
