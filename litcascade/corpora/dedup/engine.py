"""De-duplication from end to end: records in; clusters, studies, and pairs with their reasons out."""

import gc
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager

from litcascade.corpora.dedup.blocks import candidate_pairs
from litcascade.corpora.dedup.clusters import Clusters
from litcascade.corpora.dedup.facts import Facts, read_facts
from litcascade.corpora.dedup.grouping import Bound, Grouping, content
from litcascade.corpora.dedup.result import Decided, Duplicates, Pair, Verdict
from litcascade.corpora.dedup.rules import NOTICES, judge
from litcascade.errors import InputError
from litcascade.schemas import PublicationStatus, Record


def find_duplicates(records: Sequence[Record], decided: Sequence[Decided] = (), *, prefer: Collection[str] = ()) -> Duplicates:
    """Which records are one report, which reports are one study, and which pairs a person must look at.

    `decided` holds people's words on pairs; they go before every rule, and the later word on a pair before the earlier.
    `prefer` names records to keep where they have duplicates (those already screened); next go records with an abstract,
    then those with the most fields, then the first. Raises `InputError` for an id used twice and for a decision on a record
    that is not among `records`. The clusters do not depend on the order of `records`.
    """
    places = {record.record_id: place for place, record in enumerate(records)}
    if len(places) != len(records):
        twice = next(record.record_id for place, record in enumerate(records) if places[record.record_id] != place)
        raise InputError(f"the id '{twice}' is used by two records; make the ids unique before looking for duplicates")
    words = _decisions(decided, places)
    with _no_collector():
        return _find(records, words, frozenset(prefer))


@contextmanager
def _no_collector() -> Iterator[None]:
    """Python's cycle collector stands still: nothing here makes cycles, and it would walk all records again and again."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _find(records: Sequence[Record], words: dict[tuple[int, int], Decided], prefer: frozenset[str]) -> Duplicates:
    facts = [read_facts(record, place) for place, record in enumerate(records)]
    grouping = Grouping(facts)
    grouping.decide(words)
    order = sorted(grouping.identical(), key=lambda i: content(facts[i]))
    few = [facts[i] for i in order]
    pairs, notes = candidate_pairs(few)
    found = [
        (order[i], order[j], finding)
        for i, j in pairs
        if (order[i], order[j]) not in words and (finding := judge(few[i], few[j]))
    ]
    grouping.join(found)
    return _answer(grouping, notes, prefer)


def _decisions(decided: Sequence[Decided], places: dict[str, int]) -> dict[tuple[int, int], Decided]:
    """People's words by pair of places, both ways round; the later word stands."""
    words: dict[tuple[int, int], Decided] = {}
    for word in decided:
        missing = next((name for name in (word.first, word.second) if name not in places), None)
        if missing is not None:
            raise InputError(
                f"a decision names the record '{missing}', which is not among the records; import it or drop the decision"
            )
        i, j = places[word.first], places[word.second]
        if i == j:
            raise InputError(f"a decision compares the record '{word.first}' with itself; drop the decision")
        for pair in ((i, j), (j, i)):
            words.pop(pair, None)
            words[pair] = word
    return words


def _answer(grouping: Grouping, notes: Sequence[str], prefer: frozenset[str]) -> Duplicates:
    """Choose the records to keep, gather the studies, and put the pairs into words."""
    facts = grouping.facts
    kept = list(range(len(facts)))
    for members in grouping.clusters.all():
        chosen = min(members, key=lambda i: _rank(facts[i], prefer))
        for i in members:
            kept[i] = chosen
    studies, links, refused = _studies(grouping, _one_each(grouping, grouping.links, kept), kept, prefer)
    bounds = [*grouping.joined, *links, *_one_each(grouping, [*grouping.open, *refused], kept)]
    names = [fact.record_id for fact in facts]
    bounds.sort(key=lambda bound: sorted((bound.i, bound.j)))
    return Duplicates(
        tuple(_pair(bound, names) for bound in bounds),
        {name: names[kept[i]] for i, name in enumerate(names)},
        {name: names[studies[kept[i]]] for i, name in enumerate(names)},
        _statuses(grouping, names),
        tuple(notes),
    )


def _rank(fact: Facts, prefer: frozenset[str]) -> tuple[bool, bool, int, int]:
    """The record of a cluster with the lowest rank is kept."""
    return fact.record_id not in prefer, not fact.raw_abstract, -fact.filled, fact.place


def _one_each(grouping: Grouping, bounds: Iterable[Bound], kept: list[int]) -> list[Bound]:
    """One bound for each two clusters, people's words first, then the likest titles; none within one, none decided otherwise."""

    def weight(bound: Bound) -> tuple[bool, float, list[str]]:
        ids = sorted((grouping.facts[bound.i].record_id, grouping.facts[bound.j].record_id))
        return bound.rule != "decided", -(bound.score or 0.0), ids

    chosen: dict[tuple[int, int], Bound] = {}
    for bound in sorted(bounds, key=weight):
        one, other = sorted((kept[bound.i], kept[bound.j]))
        settled = bound.rule not in ("decided", "decisions at odds") and grouping.decided_apart(one, other)
        if one != other and not settled:
            chosen.setdefault((one, other), bound)
    return list(chosen.values())


def _studies(
    grouping: Grouping, links: list[Bound], kept: list[int], prefer: frozenset[str]
) -> tuple[list[int], list[Bound], list[Bound]]:
    """(the kept record that names each kept record's study, the links that hold, the links that a person's word refuses)."""
    facts, studies = grouping.facts, Clusters(len(kept))
    for i, chosen in enumerate(kept):
        studies.join(i, chosen)
    held, refused = [], []
    for link in links:
        if grouping.parted(studies, link.i, link.j):
            why = f"{link.why}; but a person decided that two of the reports have nothing in common"
            refused.append(Bound(link.i, link.j, Verdict.UNSURE, "decisions at odds", why, link.score))
        else:
            studies.join(link.i, link.j)
            held.append(link)
    named = list(range(len(kept)))
    for members in studies.all():
        heads = {kept[i] for i in members}
        chosen = min(heads, key=lambda i: (facts[i].status in NOTICES, facts[i].role != "paper", _rank(facts[i], prefer)))
        for i in members:
            named[i] = chosen
    return named, held, refused


def _statuses(grouping: Grouping, names: list[str]) -> dict[str, PublicationStatus]:
    """Publication statuses by record; one retracted record marks its whole cluster."""
    facts = grouping.facts
    statuses = {names[fact.place]: fact.status for fact in facts if fact.status}
    for members in grouping.clusters.all():
        if any(facts[i].status is PublicationStatus.RETRACTED for i in members):
            statuses |= {names[i]: PublicationStatus.RETRACTED for i in members}
    return statuses


def _pair(bound: Bound, names: list[str]) -> Pair:
    i, j = sorted((bound.i, bound.j))
    return Pair(names[i], names[j], bound.verdict, bound.rule, bound.why, bound.score)
