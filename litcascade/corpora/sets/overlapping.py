"""Records that two collections or splits share, by DOI, PMID or title, listed with how they match."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from litcascade.corpora.dedup.fold import fold
from litcascade.corpora.sets.corpus import Corpus
from litcascade.schemas import Record

How = Literal["id", "doi", "pmid", "title"]
TITLE_WORDS = 5
YEARS_APART = 1


@dataclass(frozen=True)
class Shared:
    """One pair of records: `how` is the surest match, `against` what speaks against it (such as two different DOIs)."""

    first: str
    second: str
    how: How
    against: str | None = None


@dataclass(frozen=True)
class Overlap:
    """The pairs, and how many records of each side stand in one."""

    pairs: tuple[Shared, ...]
    first_size: int
    second_size: int
    first_shared: int
    second_shared: int


def title_key(record: Record) -> str | None:
    """Letters and digits of the title, accents and case aside; None for a title of fewer than five words.

    Short titles ("Editorial", "Reply") are shared by papers that have nothing to do with each other.
    """
    words = fold(record.title or "").split()
    return "".join(words) if len(words) >= TITLE_WORDS else None


def overlap(first: Sequence[Record], second: Sequence[Record]) -> Overlap:
    """Records of `first` that are also in `second`, by DOI, else PMID, else title (years, where both known, one apart at most).

    A pair that matches in several ways is listed once, under the surest. Time and memory grow with the records and the pairs.
    """
    places = {how: _index(second, how) for how in ("doi", "pmid", "title")}
    by_id = {record.record_id: record for record in second}
    pairs: dict[tuple[str, str], Shared] = {}
    for record in first:
        for how in ("doi", "pmid", "title"):
            key = _key(record, how)
            for other_id in places[how].get(key, ()) if key else ():
                other = by_id[other_id]
                if how != "title" or _same_time(record, other):
                    pairs.setdefault((record.record_id, other_id), _shared(record, other, how))
    return _overlap(tuple(pairs.values()), len(first), len(second))


def split_overlaps(corpus: Corpus) -> dict[tuple[str, str], Overlap]:
    """Every pair of the set's splits of one stage that shares records, the same id or another record of the same paper."""
    records = {record.record_id: record for record in corpus.records}
    members = {name: [records[i] for i in ids if i in records] for name, ids in corpus.splits.items()}
    names = list(members)
    found: dict[tuple[str, str], Overlap] = {}
    for position, first in enumerate(names):
        for second in names[position + 1 :]:
            if first.partition(":")[0] != second.partition(":")[0] and ":" in first + second:
                continue  # splits of two stages may share records
            same = set(corpus.splits[first]) & set(corpus.splits[second])
            rest = [pair for pair in overlap(members[first], members[second]).pairs if pair.first != pair.second]
            pairs = (*(Shared(name, name, "id") for name in sorted(same)), *rest)
            if pairs:
                found[first, second] = _overlap(pairs, len(members[first]), len(members[second]))
    return found


def _overlap(pairs: tuple[Shared, ...], first_size: int, second_size: int) -> Overlap:
    shared = len({pair.first for pair in pairs}), len({pair.second for pair in pairs})
    return Overlap(pairs, first_size, second_size, *shared)


def _index(records: Iterable[Record], how: str) -> Mapping[str, list[str]]:
    places: dict[str, list[str]] = defaultdict(list)
    for record in records:
        if key := _key(record, how):
            places[key].append(record.record_id)
    return places


def _key(record: Record, how: str) -> str | None:
    return title_key(record) if how == "title" else getattr(record, how)


def _same_time(first: Record, second: Record) -> bool:
    return first.year is None or second.year is None or abs(first.year - second.year) <= YEARS_APART


def _shared(first: Record, second: Record, how: How) -> Shared:
    apart = [
        f"{name} {mine} and {theirs}"
        for name in ("doi", "pmid")
        if name != how and (mine := getattr(first, name)) and (theirs := getattr(second, name)) and mine != theirs
    ]
    return Shared(first.record_id, second.record_id, how, "; ".join(apart) or None)
