"""Which records to compare: those that share a key. Keys depend on the two records only, never on the rest of the list."""

import zlib
from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt
from rapidfuzz.distance import Indel
from rapidfuzz.process import cpdist

from litcascade.corpora.dedup.facts import Facts
from litcascade.corpora.dedup.words import COMMON, SMALL

Ints = npt.NDArray[np.int64]
Hashes = npt.NDArray[np.uint64]

WINDOW = 24
BANDS, ROWS = 8, 3
CHUNK = 200_000
LEAST_LIKE, LEAST_LIKE_HEADS = 0.7, 0.85
_GOLDEN = 0x9E3779B97F4A7C15  # 2**64 over the golden ratio: salts far from one another


def candidate_pairs(facts: Sequence[Facts]) -> tuple[list[tuple[int, int]], list[str]]:
    """(pairs of indices to compare, the smaller first; notes on what was too crowded to compare in full).

    `facts` are in an order of their content, not of the file: within a key that more than `WINDOW` records share, only
    neighbours in that order are compared, so the work grows with the number of records, not its square.
    """
    rank = np.arange(len(facts), dtype=np.int64)
    notes: list[str] = []
    certain = [_pairs_of(*_keyed(facts, name), rank) for name in ("doi", "stem", "pmid", "pmcid", "trial")]
    titled = np.array([place for place, fact in enumerate(facts) if fact.title.solid and not fact.title.generic], dtype=np.int64)
    places, keys = _title_keys([facts[i] for i in titled], titled)
    likely = _pairs_of(places, keys, rank)
    sure = _unique([*certain, _pairs_of(*_headings(facts), rank)])
    maybe = _unique([likely, *_bands(facts, titled, rank)])
    maybe = _like(facts, maybe)
    both = _unique([sure, maybe])
    crowded = _crowds(facts)
    if crowded:
        notes.append(crowded)
    return [(int(i), int(j)) for i, j in both], notes


def _hash(*parts: object) -> int:
    text = "\x1f".join(map(str, parts)).encode()
    return zlib.crc32(text) << 32 | zlib.adler32(text[::-1])


def _keyed(facts: Sequence[Facts], name: str) -> tuple[Ints, Hashes]:
    """Places and hashes of one kind of id."""
    found = [(place, key) for place, fact in enumerate(facts) for key in _ids(fact, name)]
    places = np.array([place for place, _ in found], dtype=np.int64)
    return places, np.array([_hash(name, key) for _, key in found], dtype=np.uint64)


def _ids(fact: Facts, name: str) -> Iterable[str]:
    if name == "trial":
        return fact.trials if len(fact.trials) == 1 else ()
    value = fact.stem() if name == "stem" else getattr(fact, name)
    return (value,) if value else ()


def _headings(facts: Sequence[Facts]) -> tuple[Ints, Hashes]:
    """Keys of records whose title says nothing: the title with volume and page, where they have both."""
    found = [
        (place, _hash("heading", fact.title.solid, fact.volume, fact.first_page))
        for place, fact in enumerate(facts)
        if fact.title.solid and fact.title.generic and fact.volume and fact.first_page
    ]
    return np.array([place for place, _ in found], dtype=np.int64), np.array([key for _, key in found], dtype=np.uint64)


def _title_keys(facts: Sequence[Facts], places: Ints) -> tuple[Ints, Hashes]:
    """Keys of records with a title: the title, its ends, and what stands beside it in a reference."""
    where: list[int] = []
    keys: list[int] = []
    for place, fact in zip(places.tolist(), facts, strict=True):
        solid, surname = fact.title.solid, fact.names[0].words[0] if fact.names else ""
        found = [_hash("title", solid), _hash("head", solid[:24]), _hash("tail", solid[-24:])]
        if surname:
            found += [_hash("title by", solid, surname), _hash("head by", solid[:12], surname)]
            if fact.first_page:
                found.append(_hash("page by", fact.first_page, surname))
        if fact.year:
            found += [_hash("title in", solid, fact.year), _hash("title in", solid, fact.year + 1)]
        if fact.first_page and fact.volume:
            found.append(_hash("place", fact.volume, fact.first_page, fact.last_page))
        where += [place] * len(found)
        keys += found
    return np.array(where, dtype=np.int64), np.array(keys, dtype=np.uint64)


def _pairs_of(places: Ints, keys: Hashes, rank: Ints) -> Ints:
    """Pairs of places with an equal key, at most `WINDOW` ranks apart within the key."""
    by = np.lexsort((rank[places], keys))
    places, keys = places[by], keys[by]
    found = []
    for step in range(1, WINDOW + 1):
        equal = np.flatnonzero(keys[step:] == keys[:-step])
        if not len(equal):
            break
        one, other = places[equal], places[equal + step]
        found.append(np.stack([np.minimum(one, other), np.maximum(one, other)], axis=1))
    return np.concatenate(found) if found else np.empty((0, 2), dtype=np.int64)


def _unique(parts: Sequence[Ints]) -> Ints:
    pairs = np.concatenate([part for part in parts if len(part)] or [np.empty((0, 2), dtype=np.int64)])
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    coded = np.unique(pairs[:, 0] << 32 | pairs[:, 1])
    return np.stack([coded >> 32, coded & 0xFFFFFFFF], axis=1)


def _bands(facts: Sequence[Facts], titled: Ints, rank: Ints) -> list[Ints]:
    """Pairs whose title words have equal smallest hashes in one of the bands (MinHash; Broder 1997)."""
    if not len(titled):
        return []
    hashes, starts = _word_hashes([facts[i] for i in titled])
    found = []
    for band in range(BANDS):
        key = np.zeros(len(titled), dtype=np.uint64)
        for row in range(ROWS):
            salt = np.uint64((2 * (band * ROWS + row) + 1) * _GOLDEN % 2**64)
            key = _mix(key + np.minimum.reduceat(_mix(hashes ^ salt), starts))
        found.append(_pairs_of(titled, key, rank))
    return found


def _mix(values: Hashes) -> Hashes:
    """The finaliser of SplitMix64: every bit of the input moves half of the output's."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(values ^ (values >> np.uint64(31)), dtype=np.uint64)


def _word_hashes(facts: Sequence[Facts]) -> tuple[Hashes, Ints]:
    """Hashes of the telling words of each title (of pairs of characters in unspaced scripts), flat, and where each starts."""
    known: dict[str, int] = {}
    flat: list[int] = []
    starts: list[int] = []
    for fact in facts:
        words = fact.title.words.split()
        telling = [word for word in words if word not in SMALL and word not in COMMON]
        telling = telling if len(telling) >= 3 else words
        if len(words) > 2 and all(len(word) == 1 for word in words):
            telling = [one + other for one, other in pairwise(words)]
        starts.append(len(flat))
        for word in telling:
            value = known.get(word)
            if value is None:
                known[word] = value = _hash(word)
            flat.append(value)
    return _mix(np.array(flat, dtype=np.uint64)), np.array(starts, dtype=np.int64)


def _like(facts: Sequence[Facts], pairs: Ints) -> Ints:
    """The pairs whose titles are alike enough to look at, or that stand at one place."""
    kept = [pairs[:0]]
    for start in range(0, len(pairs), CHUNK):
        part = pairs[start : start + CHUNK]
        one = [facts[i].title.solid for i in part[:, 0].tolist()]
        other = [facts[j].title.solid for j in part[:, 1].tolist()]
        worth = _likeness(one, other) >= LEAST_LIKE
        left = np.flatnonzero(~worth)
        shortest = [min(len(one[k]), len(other[k])) for k in left]
        heads = [[titles[k][:n] for k, n in zip(left, shortest, strict=True)] for titles in (one, other)]
        begins = (_likeness(*heads) >= LEAST_LIKE_HEADS) & (np.array(shortest, dtype=np.int64) >= 12)
        placed = np.array([_one_place(facts[i], facts[j]) for i, j in part[left].tolist()], dtype=bool)
        worth[left] = begins | placed
        kept.append(part[worth])
    return np.concatenate(kept)


def _likeness(one: Sequence[str], other: Sequence[str]) -> npt.NDArray[np.float32]:
    """How like each text is to its partner, 0 to 1."""
    if not one:
        return np.empty(0, dtype=np.float32)
    return np.asarray(cpdist(one, other, scorer=Indel.normalized_similarity, dtype=np.float32, workers=-1))


def _one_place(a: Facts, b: Facts) -> bool:
    return bool(a.volume and a.last_page and a.volume == b.volume and (a.first_page, a.last_page) == (b.first_page, b.last_page))


def _crowds(facts: Sequence[Facts]) -> str | None:
    """Says how many records share their title with more others than are compared in full."""
    counts: dict[str, int] = {}
    for fact in facts:
        if fact.title.solid and not fact.title.generic:
            counts[fact.title.solid] = counts.get(fact.title.solid, 0) + 1
    crowds = {title: count for title, count in counts.items() if count > WINDOW}
    if not crowds:
        return None
    return (
        f"{sum(crowds.values())} records bear a title that more than {WINDOW} bear ({len(crowds)} such); each was "
        f"compared with its {WINDOW} nearest by title, first author and year, and where first author, year, page or an id agree"
    )
