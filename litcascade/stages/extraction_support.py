"""What the quotes of an answer are worth: every value held against its quote, its arm and its time point."""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from litcascade.schemas import Document, FlagKind
from litcascade.schemas.fields import FieldFound, FieldSpec, RowEvidence, is_nothing
from litcascade.stages.grounding import Arm, Claim, NearMiss, Status, Support, TextIndex, verify

DAMAGE = (FlagKind.SIGNS, FlagKind.ENCODING)
SHOWN = 300
SEVERITY: tuple[str, ...] = (
    Status.NOT_FOUND, Status.NUMBER, Status.ARM, Status.TIME, Status.DIRECTION, Status.NEGATED, Status.UNIT, Status.NO_VALUE,
    Status.AMBIGUOUS, Status.SUPPORTED,
)  # fmt: skip


@lru_cache(maxsize=48)
def index_of(text: str) -> TextIndex:
    """The text folded, kept for the further questions about the same report."""
    return TextIndex(text)


def with_support(specs: Sequence[FieldSpec], values: Mapping[str, FieldFound], document: Document) -> dict[str, FieldFound]:
    """Every value of an answer with what its quote is worth; values that need no quote, and errors, stay as they are.

    The arms that any row names are the arms of the study: a number that the text gives to another one of them is not held up.
    """
    index = index_of(document.text())
    arms, times = _named(specs, values, "arm"), _named(specs, values, "time")
    checker = _Checker(document, index, tuple(Arm(name=name) for name in arms), times)
    return {spec.name: checker.field(spec, values[spec.name]) for spec in specs if spec.name in values}


def worst(statuses: Iterable[str | None]) -> str | None:
    """The gravest of some statuses; None where there is none."""
    return min((status for status in statuses if status), key=SEVERITY.index, default=None)


def damage_of(document: Document) -> str | None:
    """Why no number of this text may be used without a person's look, in words; None where nothing speaks against it."""
    found = next((flag for flag in document.flags if flag.kind in DAMAGE), None)
    return f"the text is damaged ({found.kind.value}): compare the number with the file itself" if found else None


def _named(specs: Sequence[FieldSpec], values: Mapping[str, FieldFound], what: str) -> tuple[str, ...]:
    """The names of arms or time points that the rows give, in order, each once."""
    told: dict[str, None] = {}
    for spec in specs:
        wanted = {name for part in spec.fields if (name := getattr(part, what))}
        rows = values[spec.name].value if wanted and spec.name in values else None
        for row in rows or ():
            told |= dict.fromkeys(row[name] for name in sorted(wanted) if isinstance(row.get(name), str))
    return tuple(told)


class _Checker:
    """One document, and the arms and time points that its reading names."""

    def __init__(self, document: Document, index: TextIndex, arms: tuple[Arm, ...], times: tuple[str, ...]) -> None:
        self.document = document
        self.index = index
        self.arms = arms
        self.times = times

    def field(self, spec: FieldSpec, found: FieldFound) -> FieldFound:
        """A field with the support of its value, or of its rows."""
        if found.error:
            return found
        if spec.kind == "group":
            rows = [self._row(spec, row, shown) for row, shown in zip(found.value or (), found.evidence, strict=True)]
            first = min(rows, key=lambda row: SEVERITY.index(row.support or Status.SUPPORTED), default=RowEvidence())
            told = {name: getattr(first, name) for name in ("support", "because")}
            return found.model_copy(update={"evidence": tuple(rows), **told})
        if is_nothing(spec, found.value):
            return found
        support = self._verify(spec, found.value, found.quote)
        return found.model_copy(update=self._told(support))

    def _verify(self, spec: FieldSpec, value: Any, quote: str | None, arm: str | None = None, time: str | None = None) -> Support:
        claim = Claim.of(spec, value, quote, arms=self.arms, arm=arm, times=self.times, time=time)
        return verify(claim, self.index)

    def _row(self, spec: FieldSpec, row: Mapping[str, Any], shown: RowEvidence) -> RowEvidence:
        """The cells of a row against its quote; a name of an arm or time point is held up by the cells that belong to it."""
        judged: dict[str, Support] = {}
        borne: set[str] = set()
        naming = {name for part in spec.fields for name in (part.arm, part.time) if name}
        for part in spec.fields:
            value = row.get(part.name)
            if part.name in naming or part.name in shown.errors or is_nothing(part, value):
                continue
            arm, time = (row.get(name) if name else None for name in (part.arm, part.time))
            judged[part.name] = self._verify(part, value, shown.quote, arm, time)
            borne |= {name for name in (part.arm, part.time) if name}
        for part in spec.fields:
            value = row.get(part.name)
            if part.name in naming - borne and part.name not in shown.errors and not is_nothing(part, value):
                judged[part.name] = self._verify(part, value, shown.quote)
        return shown.model_copy(update=self._row_told(judged))

    def _row_told(self, judged: Mapping[str, Support]) -> dict[str, Any]:
        if not judged:
            return {}
        first = min(judged, key=lambda name: SEVERITY.index(judged[name].status))
        doubts = {name: f"{one.status}: {one.words}"[:SHOWN] for name, one in judged.items() if not one.supported}
        told = self._told(judged[first])
        return {**told, "doubts": doubts, "because": None if not doubts else f"{first}: {judged[first].words}"[:SHOWN]}

    def _told(self, support: Support) -> dict[str, Any]:
        span = support.spans[0] if support.spans else None
        return {
            "support": support.status.value,
            "because": None if support.supported else support.words[:SHOWN],
            "quote_start": span.start if span else None,
            "quote_end": span.end if span else None,
            "place": self._place(span.start) if span else None,
            "near": _near(support.near) if support.near else None,
        }

    def _place(self, offset: int) -> str:
        place = self.document.place(offset)
        parts = [place.kind, *([f'"{place.heading[:80]}"'] if place.heading else [])]
        return ", ".join([*parts, *([f"page {place.page}"] if place.page else [])])


def _near(miss: NearMiss) -> str:
    """The near miss in words, with what differs."""
    told = "; ".join(f"{one.kind}: {one.quoted or 'nothing'} / {one.stands or 'nothing'}" for one in miss.differences[:6])
    return f"{' '.join(miss.text.split())[:SHOWN]} [quoted / stands: {told}]"[: 2 * SHOWN]
