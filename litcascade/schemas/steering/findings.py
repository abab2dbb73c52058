"""Where a text speaks to its reader instead of telling of its matter, and how sure that is."""

import re
from collections.abc import Iterable, Iterator

from litcascade.schemas.document import Document, Flag, FlagKind
from litcascade.schemas.keys import Frozen
from litcascade.schemas.steering.candidates import candidates
from litcascade.schemas.steering.english import COMPACT
from litcascade.schemas.steering.forms import Form, fold, forms
from litcascade.schemas.steering.phrases import Level, Rule, SteeringKind
from litcascade.schemas.steering.quick import quiet
from litcascade.schemas.steering.telling import judged

QUOTE = 80
NEAR = 300


class Finding(Frozen):
    """A passage that is like an instruction to the reader.

    `strong`: no model may decide on this text alone. `weak`: shown to people only, such as instructions that are told of or
    quoted. `quote` is what stands in the original from `start` on, 80 characters at most; `how` names the disguise, where one
    was taken off. `reported`: the passage is told of or quoted, and so does not add up with others.
    """

    kind: SteeringKind
    level: Level
    start: int
    quote: str
    how: str = ""
    reported: bool = False


def steering_findings(text: str) -> tuple[Finding, ...]:
    """All passages like an instruction, in the order of the text; two weak ones of different kinds close together are strong."""
    if quiet(text):
        return ()
    found: list[Finding] = []
    taken: dict[SteeringKind, bytearray] = {}
    for form in forms(text):
        for rule, start, end in _hits(form):
            left, right = form.span(start, end)
            if form.how and fold(text[left:right]) == form.text[start:end]:
                continue  # no disguise in it: the plain form has judged it
            if any(places[left:right].count(1) for kind, places in taken.items() if form.how or kind is rule.kind):
                continue
            level, reported = ("strong", False) if not form.open else judged(rule, form, text, start, left, end)
            if level:
                quote = " ".join(text[left:right].split())[:QUOTE]
                found.append(Finding(kind=rule.kind, level=level, start=left, quote=quote, how=form.how, reported=reported))
                taken.setdefault(rule.kind, bytearray(len(text)))[left:right] = b"\1" * (right - left)
    return _added_up(sorted(found, key=lambda finding: finding.start))


def steering_flags(text: str) -> tuple[Flag, ...]:
    """A flag for every kind of finding: `INSTRUCTIONS` for strong ones, `MENTION` for weak ones; most texts have none."""
    return _flags((finding, None) for finding in steering_findings(text))


def document_steering(document: Document) -> tuple[Flag, ...]:
    """The flags of a full text, title and abstract included, references not, with the page of the first place of each."""
    found = [(finding, None) for finding in steering_findings(document.title or "")]
    for piece in document.pieces():
        for part in (piece.heading or "", piece.text):
            for finding in steering_findings(part):
                later = [page for begins, page in piece.pages if begins <= finding.start and part is piece.text]
                found.append((finding, later[-1] if later else piece.page))  # type: ignore[arg-type]
    return _flags(found)


def _flags(found: Iterable[tuple[Finding, int | None]]) -> tuple[Flag, ...]:
    groups: dict[tuple[FlagKind, str], list[tuple[Finding, int | None]]] = {}
    for finding, page in found:
        kind = FlagKind.INSTRUCTIONS if finding.level == "strong" else FlagKind.MENTION
        detail = f"{finding.kind.value} ({finding.how})" if finding.how else finding.kind.value
        groups.setdefault((kind, detail), []).append((finding, page))
    return tuple(
        Flag(kind=kind, detail=detail, count=len(group), quote=group[0][0].quote, page=group[0][1])
        for (kind, detail), group in groups.items()
    )


def _hits(form: Form) -> Iterator[tuple[Rule, int, int]]:
    if form.compact:
        yield from _compact_hits(form.text)
        return
    for rule in candidates(form.text, form.words):
        for match in rule.pattern.finditer(form.text):
            yield rule, *match.span(match.re.groups)
    if form.how in _CODES:
        yield _CODED, 0, len(form.text)


def _compact_hits(text: str) -> Iterator[tuple[Rule, int, int]]:
    for words in COMPACT:
        at = text.find(words)
        if at >= 0:
            yield _CODED, at, at + len(words)


_CODED = Rule(SteeringKind.ENCODED, "?", (), re.compile(""))
_CODES = ("base64", "hexadecimal", "zeros and ones", "tag characters")


def _added_up(found: list[Finding]) -> tuple[Finding, ...]:
    """Weak findings that stand near one of another kind, neither of them told of, made strong."""
    near: set[int] = set()
    for order in (range(len(found)), reversed(range(len(found)))):
        last: dict[SteeringKind, int] = {}
        for at in order:
            one = found[at]
            if not one.reported:
                if any(abs(start - one.start) <= NEAR for kind, start in last.items() if kind is not one.kind):
                    near.add(at)
                last[one.kind] = one.start
    return tuple(
        finding.model_copy(update={"level": "strong"}) if finding.level == "weak" and at in near else finding
        for at, finding in enumerate(found)
    )
