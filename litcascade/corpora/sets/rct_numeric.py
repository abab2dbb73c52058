"""Numeric results of randomised trials: one item a comparison, from the trials' full texts in JATS."""

import re
from pathlib import Path

from litcascade.corpora.build import build
from litcascade.corpora.sets.corpus import SETS, BenchmarkSet, Card, CardFile, Corpus, GoldField, Published
from litcascade.corpora.sets.draft import Draft, examples
from litcascade.corpora.sets.tables import Row, Sheet, a_file, filled, natural, the_file
from litcascade.corpora.sets.texts_given import documents_in, note_unread
from litcascade.schemas import Document

CARD = Card(
    name="rct_numeric",
    title="Numeric outcomes of randomised trials: events, group sizes, means and standard deviations",
    source="https://github.com/hyesunyun/llm-meta-analysis",
    licence="annotations Apache-2.0; full texts have the licences of their journals",
    labels={
        "extraction": "one item a comparison of intervention and comparator on one outcome; a blank number is one that the "
        "annotator could not find; is_data_in_figure_graphics, is_relevant_data_in_table, is_table_in_graphic_format and "
        "is_data_complete say why",
    },
    files=(CardFile("annotations.csv", "5bd29f086f08f1c4c07d04b505a1f0ed670426c0ace411b604b1d43a549dbe5a"),),
    published=(Published("rct_numeric", 120, None, None),),
    notes=(
        "Record ids are PMC identifiers; items are `ico:` and the id of the annotation.",
        "Records have no screening labels: every trial was included.",
        "Published are 120 trials with 699 comparisons; the copy that the card was written against has 56 with 361.",
    ),
)
_TABLES = ("annotations.csv", "annotated_rct_dataset.csv")
NUMBERS = (
    "intervention_events",
    "intervention_group_size",
    "comparator_events",
    "comparator_group_size",
    "intervention_mean",
    "intervention_standard_deviation",
    "comparator_mean",
    "comparator_standard_deviation",
)
_WORDS = ("outcome", "intervention", "comparator", "outcome_type", "notes")
_FLAGS = ("is_data_in_figure_graphics", "is_relevant_data_in_table", "is_table_in_graphic_format", "is_data_complete")
_NUMBER = re.compile(r"-?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?")


def parts(folder: Path) -> list[str]:
    """One collection."""
    return ["rct_numeric"] if a_file(folder, *_TABLES) else []


def load(folder: Path, _part: str | None, _texts: Path | None) -> Corpus:
    """Load trials with their texts, and the annotated comparisons as gold fields."""
    draft = Draft(CARD, folder)
    sheet = draft.sheet(the_file(folder, *_TABLES), need=("id", "pmcid", *_WORDS[:3], *NUMBERS))
    trials = natural({f"PMC{digits}" for _, row in sheet.rows if (digits := _digits(row))})
    texts = documents_in({trial: path for trial in trials if (path := _text_of(folder, trial))})
    draft.documents += texts.values()
    for position, trial in enumerate(trials, start=1):
        _add_trial(draft, trial, position, texts.get(trial))
    _read(draft, sheet)
    note_unread(draft, texts.values(), [trial for trial in trials if trial not in texts])
    draft.review("rct_numeric", None)
    return draft.finish()


def _digits(row: Row) -> str | None:
    found = re.fullmatch(r"\s*(?:PMC)?0*([1-9]\d*)(?:\.0)?\s*", row["pmcid"], re.IGNORECASE)
    return found.group(1) if found else None


def _text_of(folder: Path, trial: str) -> Path | None:
    names = (f"{trial}.nxml", f"{trial}.xml")
    return a_file(folder / "full_text_jats", *names) or a_file(folder / "abstract_and_results_xml_files", *names)


def _add_trial(draft: Draft, trial: str, position: int, text: Document | None) -> None:
    told = {"title": text.title, "abstract": text.abstract, "doi": text.doi} if text else {}
    draft.records[trial] = build(trial, {**told, "pmcid": trial}, [], position, {"pmcid": trial})
    draft.review_of[trial] = "rct_numeric"


def _read(draft: Draft, sheet: Sheet) -> None:
    split_of: dict[str, set[str]] = {}
    odd: list[str] = []
    seen: set[str] = set()
    for number, row in sheet.rows:
        digits, own = _digits(row), filled(row["id"])
        if digits is None or own is None or own in seen:
            draft.aside(sheet, number, f"its id '{own}' is used before" if own in seen else "has no id or no PMC identifier")
            continue
        seen.add(own)
        draft.used(sheet)
        trial, item = f"PMC{digits}", f"ico:{own}"
        draft.fields += _fields(trial, item, row, odd)
        if split := filled(row.get("split")):
            split_of.setdefault(trial, set()).add(split.casefold())
    for trial, splits in split_of.items():
        for split in sorted(splits):
            draft.into_split(split, trial)
    torn = [trial for trial, splits in split_of.items() if len(splits) > 1]
    for words, found in (("trial(s) stand in two splits", torn), ("value(s) are no numbers and were left out", odd)):
        if found:
            draft.notes.append(f"{len(found)} {words}: {examples(found)}")


def _fields(trial: str, item: str, row: Row, odd: list[str]) -> list[GoldField]:
    found = [GoldField(trial, name, filled(row.get(name)), item=item) for name in _WORDS if name in row]
    flags = {name: {"true": True, "false": False}.get(row.get(name, "").strip().casefold()) for name in _FLAGS if name in row}
    found += [GoldField(trial, name, flag, item=item) for name, flag in flags.items()]
    for name in NUMBERS:
        cell = filled(row[name])
        if cell is None:
            found.append(GoldField(trial, name, None, item=item))
        elif _NUMBER.fullmatch(cell):
            found.append(GoldField(trial, name, float(cell.replace(",", "")), item=item))
        else:
            odd.append(f"'{cell[:20]}' as {name} of {item}")
    return found


SETS.register("rct_numeric")(BenchmarkSet(CARD, parts, load))
