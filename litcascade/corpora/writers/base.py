"""What all writers share: a row, what the review is called, which format a name asks for, and text that any file can hold."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from litcascade.corpora.found_labels import BY_MODEL, FORMS
from litcascade.errors import InputError
from litcascade.registry import Registry
from litcascade.schemas import Record

ENDINGS = {
    ".ris": "ris", ".csv": "csv", ".tsv": "tsv", ".xlsx": "xlsx", ".bib": "bibtex", ".parquet": "parquet", ".jsonl": "jsonl",
    ".asreview": "asreview",
}  # fmt: skip
TEXTS = ("record_id", "title", "abstract", "journal", "volume", "issue", "pages", "doi", "pmid", "pmcid", "url", "kind")
LABEL_COLUMNS = {
    "title_abstract": "label_title_abstract",
    "full_text": "label_full_text",
    "screening": "screening_decision",
}
_LINE_END = re.compile(r"\r\n?")
_BLANK = re.compile("[\x0b\x0c\x1c-\x1f]")
_UNHELD = re.compile("[\x00-\x08\x0e-\x1b\ud800-\udfff\ufeff\ufffe\uffff]")
_ODD = re.compile("[\x00-\x08\x0b-\x1f\ud800-\udfff\ufeff\ufffe\uffff]")


@dataclass(frozen=True)
class Answer:
    """One question about a record and what was answered, for the question-answer shape.

    `answer` is None where nothing was found or read; `context` is the text that was put to the reader, by default title and
    abstract.
    """

    name: str
    question: str
    answer: str | None
    context: str | None = None


@dataclass(frozen=True)
class Row:
    """A record with its state by stage (`included`, `excluded`, `referred`, `pending`, …) and its answers."""

    record: Record
    states: Mapping[str, str] = field(default_factory=dict)
    answers: tuple[Answer, ...] = ()


@dataclass(frozen=True)
class About:
    """What a writer must know of the review: its name, its stages in order, and what was asked.

    `decided_at` is the stage whose decision becomes the one label of formats that hold a single one (ASReview, Hugging Face).
    """

    name: str = "records"
    stages: tuple[str, ...] = ()
    question: str = "Should this record be included?"
    criteria: str = ""
    decided_at: str = "title_abstract"


@dataclass(frozen=True)
class Written:
    """How many rows a file holds, and what a person should know of them."""

    rows: int
    notes: tuple[str, ...] = ()


Writer = Callable[[Path, Iterable[Row], About], Written]
WRITERS: Registry[Writer] = Registry("writer of records")


def format_of(path: Path) -> str:
    """The writer that a file's name asks for by its ending (`.part` apart); any other ending is an `InputError`."""
    name = path.name.removesuffix(".part").lower()
    if name.endswith(".asreview.csv"):
        return "asreview_csv"
    ending = Path(name).suffix
    if ending not in ENDINGS:
        raise InputError(f"{name}: the ending says the format; use {', '.join(list(ENDINGS)[:-1])} or {list(ENDINGS)[-1]}")
    return ENDINGS[ending]


def write_records(path: Path, rows: Iterable[Row], about: About, name: str | None = None) -> Written:
    """Write rows to `path` with the writer of that name, by default the one that the ending asks for."""
    return WRITERS.get(name or format_of(path))(path, rows, about)


class Cleaner:
    """Takes out of rows what no text file can hold, and counts it.

    Line ends become line feeds. A control character that parts words becomes a blank, any other (null, lone surrogates, byte
    order marks, what XML 1.0 forbids) nothing.
    """

    def __init__(self) -> None:
        self.removed = 0

    def rows(self, rows: Iterable[Row]) -> Iterator[Row]:
        """The rows as they are written, one after the other."""
        for row in rows:
            record = row.record
            texts = {name: value for name in TEXTS if (value := getattr(record, name)) and _ODD.search(value)}
            if texts or any(map(_ODD.search, record.authors)):
                plain = {name: self.text(value) for name, value in texts.items()}
                record = record.model_copy(update={**plain, "authors": tuple(map(self.text, record.authors))})
            yield replace(row, record=record, answers=tuple(map(self._answer, row.answers)))

    def _answer(self, answer: Answer) -> Answer:
        said, context = ((None if text is None else self.text(text)) for text in (answer.answer, answer.context))
        return replace(answer, answer=said, context=context)

    def text(self, text: str) -> str:
        """One text as it is written."""
        if not _ODD.search(text):
            return text
        text, blanks = _BLANK.subn(" ", _LINE_END.sub("\n", text))
        text, gone = _UNHELD.subn("", text)
        self.removed += blanks + gone
        return text

    def notes(self) -> tuple[str, ...]:
        """What was taken out, in words."""
        return (f"{self.removed} control character(s) that no text file holds were left out",) if self.removed else ()


def label_of(row: Row, about: About, *, people_only: bool = False) -> tuple[str | None, str | None]:
    """(`include`, `exclude` or None; where that was said) for formats that hold one label.

    With `people_only` a state that a model decided is none: where a file says nothing of who decided, it would be taken for a
    person's word. A record excluded at an earlier stage is excluded. Else the state at `decided_at` goes first, then the label
    that was imported for that stage, then the one of `screening`. Any other state (referred, pending, …) and any other label
    (maybe, conflict) is none.
    """
    stage, labels = about.decided_at, row.record.labels
    earlier = about.stages[: about.stages.index(stage)] if stage in about.stages else ()
    stage = next((one for one in earlier if row.states.get(one, "").startswith("excluded")), stage)
    state = row.states.get(stage, "")
    by_model = state.endswith(BY_MODEL)
    plain = None if by_model and people_only else FORMS.get(state.removesuffix(BY_MODEL))
    said = ((f"state {stage}{BY_MODEL if by_model else ''}", plain), (f"label {stage}", labels.get(stage)))
    for source, label in (*said, ("label screening", labels.get("screening"))):
        if label in ("include", "exclude"):
            return label, source
    return None, None


def title_and_abstract(record: Record) -> str:
    """The text that is screened: title and abstract, a blank line between them; what is missing is left out."""
    return "\n\n".join(part for part in (record.title, record.abstract) if part)
