"""What speaks for and against two records' being one, with words for it."""

from dataclasses import dataclass

from rapidfuzz.distance import Indel

from litcascade.corpora.dedup.facts import Facts
from litcascade.corpora.dedup.journals import Journals, compare_journals
from litcascade.corpora.dedup.likeness import Likeness, TitleMatch, compare_titles
from litcascade.corpora.dedup.names import Authors, compare_authors

_MIN_ABSTRACT = 80
_NEARLY_ONE = 0.85
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


@dataclass(slots=True)
class Evidence:
    """The comparison of two records, field by field; None means that one of them does not say."""

    a: Facts
    b: Facts
    shared: tuple[tuple[str, str], ...]
    clash: str
    stems: bool
    title: TitleMatch
    authors: Authors
    shared_names: int
    years_apart: int | None
    journals: Journals
    same_volume: bool | None
    same_page: bool | None
    last_page: bool
    _likeness: float | None = -1.0

    @property
    def generic(self) -> bool:
        """Whether a title says nothing."""
        return self.a.title.generic or self.b.title.generic

    @property
    def like(self) -> bool:
        """Whether the titles may be one title."""
        return self.title.kind >= Likeness.CHANGED

    @property
    def place(self) -> bool:
        """The same volume and first page, or the same article number where no volume speaks against it."""
        number = self.same_volume is None and len(self.a.first_page or "") >= 6 and not (self.a.first_page or "").isdigit()
        return bool(self.same_page and (self.same_volume or number))

    @property
    def versions(self) -> bool:
        """One is a preprint or a meeting report and the other is not."""
        return self.a.role != self.b.role

    @property
    def likeness(self) -> float | None:
        """How like the heads of the two abstracts are, 0 to 1; None where one is missing or too short to tell."""
        if self._likeness == -1.0:
            self._likeness = _abstracts(self.a, self.b)
        return self._likeness

    @property
    def abstract(self) -> bool:
        """Whether the abstracts are one text."""
        likeness = self.likeness
        return likeness is not None and likeness >= 0.85

    def support(self) -> int:
        """How many of authors, journal, volume, first page and abstract agree."""
        fields = (self.authors is Authors.SAME, self.journals is Journals.SAME, self.same_volume, self.same_page, self.abstract)
        return sum(bool(field) for field in fields)

    def against(self) -> list[str]:
        """The fields that disagree."""
        likeness = self.likeness
        fields = {
            "authors": self.authors is Authors.NONE,
            "journal": self.journals is Journals.OTHER,
            "volume": self.same_volume is False,
            "pages": self.same_page is False,
            "year": self.years_apart is not None and self.years_apart > 1,
            "abstract": likeness is not None and likeness < 0.5,
        }
        return [name for name, disagrees in fields.items() if disagrees]

    def needed(self) -> int:
        """How many fields must agree beside an equal title: two, or one where the title is long and that one is strong.

        Strong are the authors of the same year, and an abstract where no authors are given.
        """
        long = len(self.a.title.words.split()) >= 4 and len(self.a.title.solid) >= 24
        dated = self.years_apart == 0 and self.authors is Authors.SAME
        return 1 if long and (dated or (self.authors is Authors.UNKNOWN and self.abstract)) else 2

    def shared_words(self) -> str:
        """The ids in common, by name and value."""
        return " and ".join(f"{name} {value}" for name, value in self.shared)

    def words(self, *names: str) -> str:
        """A clause for each named field that says something."""
        clauses = dict.fromkeys(_CLAUSES[name](self) for name in names)
        return ", ".join(clause for clause in clauses if clause) or "nothing else to compare"


def hopeless(a: Facts, b: Facts) -> bool:
    """Whether no rule can speak for two records, told cheaply: they share neither id, trial nor first page, and their titles
    are in other words, or not nearly one while no word of an author's name is in both.
    """
    if any(one and one == other for (_, one), (_, other) in zip(a.ids(), b.ids(), strict=True)):
        return False
    if a.trials & b.trials or (a.first_page is not None and a.first_page == b.first_page):
        return False
    one, other = ({word for name in facts.names for word in name.words} for facts in (a, b))
    if one and other and one.isdisjoint(other) and Indel.normalized_similarity(a.title.solid, b.title.solid) < _NEARLY_ONE:
        return True
    return compare_titles(a.title, b.title).kind <= Likeness.OTHER


def gather(a: Facts, b: Facts) -> Evidence:
    """Compare two records field by field; abstracts are compared only when a rule asks."""
    pairs = [(name, one, other) for (name, one), (_, other) in zip(a.ids(), b.ids(), strict=True) if one and other]
    clashes = [f"their {name}s differ ({one}, {other})" for name, one, other in pairs if one != other]
    authors, names = compare_authors(a.names, b.names)
    return Evidence(
        a,
        b,
        tuple((name, one) for name, one, other in pairs if one == other),
        " and ".join(clashes),
        bool(a.doi and b.doi and a.doi != b.doi and (a.stem() == b.stem() or a.doi.startswith(b.doi) or b.doi.startswith(a.doi))),
        compare_titles(a.title, b.title),
        authors,
        names,
        abs(a.year - b.year) if a.year is not None and b.year is not None else None,
        compare_journals(a.journal, b.journal),
        a.volume == b.volume if a.volume and b.volume else None,
        _same_page(a, b),
        a.last_page is not None and a.last_page == b.last_page,
    )


def _same_page(a: Facts, b: Facts) -> bool | None:
    """Whether the first pages agree; None where one is missing, where only one bears letters, or where the ranges overlap."""
    if not a.first_page or not b.first_page:
        return None
    if a.first_page == b.first_page:
        return True
    if a.first_page.lstrip(_LETTERS) == b.first_page.lstrip(_LETTERS) and (a.first_page.isdigit() or b.first_page.isdigit()):
        return None
    overlap = any(low <= end and start <= high for low, high in a.pages for start, end in b.pages)
    return None if overlap else False


def _abstracts(a: Facts, b: Facts) -> float | None:
    if not a.raw_abstract or not b.raw_abstract:
        return None
    if a.raw_abstract == b.raw_abstract:
        return 1.0
    one, other = a.abstract, b.abstract
    length = min(len(one), len(other))
    if length < _MIN_ABSTRACT:
        return None
    return Indel.normalized_similarity(one[:length], other[:length])


def _title_words(e: Evidence) -> str:
    match e.title.kind:
        case Likeness.NONE:
            return "a title is missing"
        case Likeness.EQUAL:
            return "the same title"
        case Likeness.VARIANT:
            return f"titles alike to {e.title.ratio:.0%}" + (f" ({e.title.differ})" if e.title.differ else "")
        case Likeness.LONGER:
            return f"one title goes on where the other ends ({e.title.differ})"
        case Likeness.SENSE:
            return f"titles of another sense ({e.title.differ})"
        case Likeness.CHANGED:
            return f"titles alike to {e.title.ratio:.0%} ({e.title.differ})"
        case _:
            return f"titles alike to {e.title.ratio:.0%} only"


def _author_words(e: Evidence) -> str:
    fewest = min(len(e.a.names), len(e.b.names))
    return {
        Authors.SAME: f"{e.shared_names} of {fewest} author(s) the same",
        Authors.SOME: f"{e.shared_names} of {fewest} author(s) the same",
        Authors.NONE: "no author in common",
        Authors.UNKNOWN: "",
    }[e.authors]


def _year_words(e: Evidence) -> str:
    if e.years_apart is None:
        return ""
    return f"year {e.a.year}" if e.years_apart == 0 else f"years {' and '.join(map(str, sorted((e.a.year or 0, e.b.year or 0))))}"


def _journal_words(e: Evidence) -> str:
    return {Journals.SAME: "the same journal", Journals.OTHER: "other journals"}.get(e.journals, "")


def _place_words(e: Evidence) -> str:
    volume = {True: f"volume {e.a.volume}", False: f"volumes {e.a.volume} and {e.b.volume}", None: ""}[e.same_volume]
    page = {True: f"page {e.a.first_page}", False: f"pages {e.a.first_page} and {e.b.first_page}", None: ""}[e.same_page]
    return ", ".join(part for part in (volume, page) if part)


def _abstract_words(e: Evidence) -> str:
    return "" if e.likeness is None else f"abstracts alike to {e.likeness:.0%}"


_CLAUSES = {
    "title": _title_words,
    "authors": _author_words,
    "year": _year_words,
    "journal": _journal_words,
    "place": _place_words,
    "volume": _place_words,
    "pages": _place_words,
    "abstract": _abstract_words,
}
