"""The rules: what two records are to one another, which rule says so, and why. Each pair is judged by itself."""

from collections.abc import Callable
from dataclasses import dataclass

from litcascade.corpora.dedup.evidence import Evidence, gather, hopeless
from litcascade.corpora.dedup.facts import Facts
from litcascade.corpora.dedup.journals import Journals
from litcascade.corpora.dedup.likeness import Likeness
from litcascade.corpora.dedup.names import Authors
from litcascade.corpora.dedup.result import Verdict
from litcascade.schemas import PublicationStatus

NOTICES = {PublicationStatus.RETRACTION_NOTICE, PublicationStatus.ERRATUM, PublicationStatus.CONCERN}
_FIELDS = ("title", "authors", "year", "journal", "place", "abstract")
_OTHER_REPORTS = {"reply", "protocol", "register"}


@dataclass(frozen=True, slots=True)
class Finding:
    """What a rule says of two records; `strength` orders joins, the strongest first."""

    verdict: Verdict
    rule: str
    why: str
    score: float | None
    strength: int


def judge(a: Facts, b: Facts) -> Finding | None:
    """The verdict on two records, or None where nothing speaks for their being one report or one study.

    The order of the two does not matter. The sections that follow speak in turn: kinds of report that are never one, ids that
    agree, ids that differ, and titles with their details.
    """
    if hopeless(a, b):
        return None
    e = gather(a, b)
    for speak in (_other_report, _shared_id, _differing_id, _generic, _details):
        finding, spoken = speak(e)
        if spoken:
            return finding or _one_trial(e)
    return _one_trial(e)


Spoken = tuple[Finding | None, bool]
_SILENT: Spoken = (None, False)
_NOTHING: Spoken = (None, True)


def _found(e: Evidence, verdict: Verdict, rule: str, why: str | tuple[str, ...], strength: int = 0) -> Spoken:
    """A finding; `why` is a sentence, or the names of the fields to put into words."""
    score = round(e.title.ratio, 3) if e.title.kind is not Likeness.NONE else None
    return Finding(verdict, rule, why if isinstance(why, str) else e.words(*why), score, strength), True


def contradiction(a: Facts, b: Facts, *, ids: bool = True) -> str | None:
    """Why two records may not be brought into one cluster by way of a third; None where they may. `ids` weighs differing ids."""
    e = gather(a, b)
    if ids and e.clash:
        return e.clash
    if is_other_report(a, b) and not _one_protocol(e):
        return f"one is {kind_of(a)} and the other {kind_of(b)}"
    if e.shared:
        return None
    if e.title.kind is Likeness.SENSE:
        return e.words("title")
    if e.authors is Authors.NONE and not e.place:
        return e.words("authors")
    against = e.against()
    return e.words(*against) if len(against) >= 2 and not (e.place and len(against) == 2) else None


def is_other_report(a: Facts, b: Facts) -> bool:
    """A notice and its paper, a reply, a protocol or a register entry and the rest: never one report."""
    one, other = (x.status if x.status in NOTICES else None for x in (a, b))
    return one != other or (a.role != b.role and bool({a.role, b.role} & _OTHER_REPORTS))


def _one_protocol(e: Evidence) -> bool:
    """One article that only one record shows as a protocol or register entry: it stands at one place, or bears one id."""
    kinds = {e.a.role, e.b.role}
    told = kinds <= {"protocol", "register", "paper"} and not {e.a.status, e.b.status} & NOTICES
    return told and e.authors is Authors.SAME and (e.place or bool(e.shared))


def kind_of(facts: Facts) -> str:
    """The kind of report in words."""
    if facts.status in NOTICES:
        return {"retraction notice": "a retraction notice", "erratum": "an erratum"}.get(
            str(facts.status), "an expression of concern"
        )
    words = {
        "meeting": "a meeting report",
        "preprint": "a preprint",
        "reply": "a comment or reply",
        "register": "a register entry",
    }
    return words.get(facts.role, f"a {facts.role}")


def _other_report(e: Evidence) -> Spoken:
    """Notices, replies, protocols and register entries are linked to what they are about, never joined to it."""
    a, b = e.a, e.b
    if not is_other_report(a, b) or _one_protocol(e):
        return _SILENT
    kinds = f"{kind_of(a)} and {kind_of(b)}"
    if e.shared and (e.like or Likeness.NONE in (e.title.kind,)):
        return _found(e, Verdict.SAME_STUDY, "notice of a paper", f"{kinds} with the same {e.shared_words()}")
    titled = e.title.kind >= Likeness.VARIANT and not e.generic
    if {a.role, b.role} & {"protocol", "register"}:
        titled = titled or (e.title.ratio >= 0.6 and not e.generic and e.title.kind is not Likeness.SENSE)
        if titled and e.authors is Authors.SAME:
            return _found(e, Verdict.SAME_STUDY, "protocol and report", f"{kinds}: {e.words('title', 'authors')}")
        return _NOTHING
    if titled and e.place and e.authors is Authors.SAME:
        return _found(e, Verdict.UNSURE, "kind of report in doubt", f"{kinds}, but {e.words('title', 'authors', 'place')}")
    if titled and len(a.title.solid) >= 12:
        return _found(e, Verdict.SAME_STUDY, "notice of a paper", f"{kinds} that name the same title")
    return _NOTHING


def _shared_id(e: Evidence) -> Spoken:
    """An id in common joins, unless another id, the title or the whole record speaks against it."""
    if not e.shared:
        return _SILENT
    same = f"the same {e.shared_words()}"
    if e.clash:
        return _found(e, Verdict.UNSURE, "ids at odds", f"{same}, but {e.clash}")
    kind = e.title.kind
    if kind in (Likeness.SENSE, Likeness.OTHER) or (kind is Likeness.CHANGED and e.title.ratio < 0.8):
        if kind is not Likeness.SENSE and e.authors is Authors.SAME and (e.years_apart or 0) <= 1 and (e.place or e.abstract):
            return _found(e, Verdict.SAME, "same id", f"{same}; {e.words('authors', 'place', 'abstract')}", 9)
        return _found(e, Verdict.UNSURE, "same id, other title", f"{same}, but {e.words('title', 'authors', 'year')}")
    if e.authors is Authors.NONE and kind < Likeness.VARIANT and kind is not Likeness.NONE:
        return _found(e, Verdict.UNSURE, "same id, other authors", f"{same}, but {e.words('title', 'authors')}")
    return _found(e, Verdict.SAME, "same id", f"{same}; {e.words('title')}", 10)


def _differing_id(e: Evidence) -> Spoken:
    """Ids that differ forbid a join: versions are linked, records that agree in all else go to a person."""
    if not e.clash:
        return _SILENT
    if e.generic or e.title.kind < Likeness.CHANGED or e.authors in (Authors.NONE, Authors.SOME):
        return _NOTHING
    if e.title.kind < Likeness.VARIANT and not (e.authors is Authors.SAME and (e.place or e.abstract or e.versions)):
        return _NOTHING
    if e.stems:
        return _found(
            e, Verdict.UNSURE, "versions of one DOI", f"{e.clash}, but only in their endings; {e.words('title', 'authors')}"
        )
    if e.place or (e.abstract and e.journals is Journals.SAME and (e.years_apart or 0) <= 1):
        why = f"{e.clash}, but {e.words('title', 'authors', 'journal', 'place', 'abstract')}"
        return _found(e, Verdict.UNSURE, "ids differ, all else agrees", why)
    return _version(e)


def _version(e: Evidence) -> Spoken:
    """Two reports of one work: other kind of report, or other journal, by the same authors under the same title."""
    if e.authors is not Authors.SAME or e.title.kind < Likeness.CHANGED:
        return _NOTHING
    if e.versions or e.journals is Journals.OTHER:
        where = f"{kind_of(e.a)} and {kind_of(e.b)}" if e.versions else "two journals"
        if e.title.kind >= Likeness.VARIANT or e.versions or e.abstract:
            return _found(
                e, Verdict.SAME_STUDY, "versions of one work", f"{where}: {e.words('title', 'authors', 'journal', 'year')}"
            )
    if e.clash and e.title.kind >= Likeness.VARIANT and e.journals is not Journals.SAME:
        return _found(e, Verdict.UNSURE, "ids differ", f"{e.clash}; {e.words('title', 'authors', 'year')}")
    return _NOTHING


def _generic(e: Evidence) -> Spoken:
    """Titles that say nothing, or are missing, never join without an id."""
    if not e.generic:
        return _SILENT
    if e.place and e.authors in (Authors.SAME, Authors.UNKNOWN) and e.title.kind >= Likeness.VARIANT:
        return _found(
            e, Verdict.UNSURE, "title says nothing", f"the title is a heading, but {e.words('authors', 'place', 'journal')}"
        )
    return _NOTHING


def _details(e: Evidence) -> Spoken:
    """Titles and what else agrees; each kind of likeness has its own measure."""
    return _BY_LIKENESS[e.title.kind](e) if e.title.kind is not Likeness.NONE else _NOTHING


def _equal(e: Evidence) -> Spoken:
    """The same words, or the same but for spelling."""
    for_it, against = e.support(), e.against()
    if e.versions and not e.place and e.journals is not Journals.SAME:
        return _version(e)
    if e.place and e.authors is not Authors.NONE and len(against) <= 1:
        return _found(e, Verdict.SAME, "title and place", _FIELDS, 8)
    if not against and for_it >= e.needed():
        return _found(e, Verdict.SAME, "title and details", _FIELDS, 4 + min(for_it, 3))
    if len(against) == 1 and for_it >= 3 and against[0] not in ("journal", "authors", "pages") and not e.versions:
        return _found(e, Verdict.SAME, "title and details", f"{e.words(*_FIELDS)}, though {e.words(*against)}", 4)
    if e.authors is Authors.SAME and (e.versions or "journal" in against):
        finding = _version(e)
        if finding[0]:
            return finding
    long = len(e.a.title.words.split()) >= 6
    if long and e.journals is Journals.SAME and e.years_apart == 0 and len(against) <= 1:
        return _found(e, Verdict.UNSURE, "title and journal", e.words(*_FIELDS))
    if for_it >= 2 + len(against) or (for_it >= 1 and not against) or (e.authors is Authors.SAME and len(against) <= 1):
        return _found(e, Verdict.UNSURE, "title and little else", e.words(*_FIELDS, *against))
    return _NOTHING


def _longer(e: Evidence) -> Spoken:
    """One title is the other with an end to it: a subtitle dropped, or another paper."""
    if e.authors is Authors.NONE or len(e.against()) > 1:
        return _NOTHING
    sure = not e.against() or (e.place and e.against() == ["year"])
    if (e.place or e.abstract) and sure and e.authors is Authors.SAME:
        return _found(e, Verdict.SAME, "title without its end", _FIELDS, 6)
    if e.place or e.abstract:
        return _found(e, Verdict.UNSURE, "title without its end", _FIELDS)
    if e.versions and e.authors is Authors.SAME:
        return _version(e)
    if e.authors is Authors.SAME and not e.against() and e.years_apart == 0 and e.journals is not Journals.UNKNOWN:
        return _found(e, Verdict.UNSURE, "title without its end", _FIELDS)
    return _NOTHING


def _changed(e: Evidence) -> Spoken:
    """A few words differ: one report only if journal, place and authors, or the abstract, say so."""
    if e.authors is Authors.NONE or len(e.against()) > 1:
        return _NOTHING
    if e.place and not e.against() and e.authors is Authors.SAME and (e.last_page or e.abstract) and e.title.ratio >= 0.8:
        return _found(e, Verdict.SAME, "place and authors", _FIELDS, 5)
    near = e.journals is Journals.SAME or (e.journals is Journals.UNKNOWN and e.years_apart == 0)
    if near and e.title.ratio >= 0.85 and not e.against() and e.authors is Authors.SAME and (e.likeness or 0) >= 0.95:
        return _found(e, Verdict.SAME, "abstract and authors", _FIELDS, 5)
    beside = e.journals in (Journals.SAME, Journals.UNCLEAR) and not e.against() and (e.years_apart or 0) <= 1
    close = e.title.ratio >= 0.78 and beside and len(e.a.title.words.split()) >= 4
    if e.place or (e.authors is Authors.SAME and (e.abstract or close)):
        return _found(e, Verdict.UNSURE, "title changed", _FIELDS)
    if e.versions and e.authors is Authors.SAME and e.title.ratio >= 0.85:
        return _version(e)
    return _NOTHING


def _turned(e: Evidence) -> Spoken:
    """Another number or sense in the title is another paper, unless place or abstract agree: then a person looks."""
    if ((e.place and e.last_page) or e.abstract) and e.authors is Authors.SAME and not e.against():
        return _found(e, Verdict.UNSURE, "another sense", e.words("title", "authors", "place", "abstract"))
    return _NOTHING


def _other(e: Evidence) -> Spoken:
    """Other words: a translated title, where authors and both pages agree, is for a person."""
    if e.place and e.last_page and e.authors is Authors.SAME and e.shared_names >= 2 and e.journals is Journals.SAME:
        return _found(e, Verdict.UNSURE, "other title, same place", e.words("title", "authors", "journal", "place"))
    return _NOTHING


_BY_LIKENESS: dict[Likeness, Callable[[Evidence], Spoken]] = {
    Likeness.OTHER: _other,
    Likeness.SENSE: _turned,
    Likeness.CHANGED: _changed,
    Likeness.LONGER: _longer,
    Likeness.VARIANT: _equal,
    Likeness.EQUAL: _equal,
}


def _one_trial(e: Evidence) -> Finding | None:
    """One register number, the only one that either names, links reports by shared authors, or a register entry."""
    if len(e.a.trials) != 1 or e.a.trials != e.b.trials:
        return None
    if e.authors not in (Authors.SAME, Authors.SOME) and "register" not in (e.a.role, e.b.role):
        return None
    why = f"both name the trial {next(iter(e.a.trials))}; {e.words('authors')}"
    return _found(e, Verdict.SAME_STUDY, "one trial register number", why)[0]
