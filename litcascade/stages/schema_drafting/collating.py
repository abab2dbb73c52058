"""Candidates of all papers put together by name, numbered, and dealt out in batches that fit a reader's window."""

from collections import Counter
from collections.abc import Sequence

from litcascade.schemas import Frozen
from litcascade.stages.budget import estimate
from litcascade.stages.schema_drafting.candidates import Candidate


class Group(Frozen):
    """All candidates of one name, in the order of their papers, with their numbers in the whole list."""

    name: str
    numbers: tuple[int, ...]
    candidates: tuple[Candidate, ...]

    @property
    def papers(self) -> int:
        """How many papers named it."""
        return len({one.record_id for one in self.candidates})

    def head(self) -> str:
        """Name, papers and kinds in a line."""
        kinds = Counter(one.kind for one in self.candidates)
        told = ", ".join(f"{kind} {count}" for kind, count in sorted(kinds.items(), key=lambda pair: (-pair[1], pair[0])))
        return f"{self.name} ({self.papers} paper(s); {told})"

    def line(self, place: int) -> str:
        """One of its candidates as it is shown to the collaborator."""
        one = self.candidates[place]
        parts = [f"  c{self.numbers[place]} [paper {one.record_id}] {one.definition}"]
        parts += [f"example: {one.example}"] if one.example else []
        parts += [f'quote: "{one.quote}"' + ("" if one.quote_found else " (does not stand in the paper)")] if one.quote else []
        parts += [f"remark: {one.remark}"] if one.remark else []
        parts += ["(the paper has text that may steer a reader)"] if one.flags else []
        return "; ".join(parts)


class Batch(Frozen):
    """What one question to the collaborator shows: lines, the candidates by their number, and the names of other batches."""

    number: int
    of: int
    text: str
    shown: dict[str, Candidate]
    others: tuple[str, ...] = ()


def collate(candidates: Sequence[Candidate]) -> list[Group]:
    """One group a name, by name; the numbers count through all groups. The order of what is given does not matter."""
    ordered = sorted(candidates, key=lambda one: (one.name, one.record_id, one.window, one.candidate_id))
    named: dict[str, list[tuple[int, Candidate]]] = {}
    for number, one in enumerate(ordered, 1):
        named.setdefault(one.name, []).append((number, one))
    return [
        Group(name=name, numbers=tuple(n for n, _ in held), candidates=tuple(one for _, one in held))
        for name, held in named.items()
    ]


def batches(groups: Sequence[Group], room: int) -> list[Batch]:
    """The groups in order, so many in a batch as fit into `room` tokens (guessed from above); a large group goes on in the next.

    A quarter of the room is kept for the names of the other batches, so that names far apart can still be merged.
    """
    most = room - room // 4
    parts: list[list[tuple[Group, list[int]]]] = [[]]
    held = 0
    for group in groups:
        for place in range(len(group.numbers)):
            cost = estimate(group.line(place)) + 1
            here = parts[-1]
            opens = not here or here[-1][0] is not group
            head = estimate(group.head()) + 1 if opens else 0
            if held and held + cost + head > most:
                parts.append([])
                here, opens, held, head = parts[-1], True, 0, estimate(group.head()) + 1
            if opens:
                here.append((group, []))
            here[-1][1].append(place)
            held += cost + head
    return [_batch(number, parts, groups, room // 4) for number in range(len(parts)) if parts[number]]


def _batch(number: int, parts: Sequence[Sequence[tuple[Group, list[int]]]], groups: Sequence[Group], room: int) -> Batch:
    mine = parts[number]
    lines = [line for group, places in mine for line in (group.head(), *map(group.line, places))]
    shown = {f"c{group.numbers[place]}": group.candidates[place] for group, places in mine for place in places}
    here = {group.name for group, _ in mine}
    far = sorted((group for group in groups if group.name not in here), key=lambda group: (-group.papers, group.name))
    others: list[str] = []
    held = 0
    for group in far:
        held += estimate(group.name) + 1
        if held > room:
            break
        others.append(group.name)
    return Batch(number=number + 1, of=len(parts), text="\n".join(lines), shown=shown, others=tuple(others))
