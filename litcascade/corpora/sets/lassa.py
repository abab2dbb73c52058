"""Lassa fever: a Covidence export with both screening levels, reasons at full text, and extraction gold by one id."""

import re
from pathlib import Path

from litcascade.corpora.build import build
from litcascade.corpora.sets.corpus import SETS, BenchmarkSet, Card, CardFile, Corpus, GoldField, GoldLabel, Published, Review
from litcascade.corpora.sets.draft import WORDS, Draft, examples
from litcascade.corpora.sets.tables import Row, Sheet, a_file, filled, identifier, read_bytes, the_file
from litcascade.schemas import Record

CARD = Card(
    name="lassa",
    title="Lassa fever review of the Pathogen Epidemiology Review Group: Covidence decisions and extracted data",
    source="https://github.com/mrc-ide/epireview",
    licence="records: none found; extraction gold: CC0",
    labels={
        "title_abstract": "decision on title and abstract",
        "full_text": "decision on the full text, with the reason for exclusion; only records kept before have one",
        "extraction": "values that the reviewers extracted: one item a row of articles, models, outbreaks and parameters",
    },
    files=(
        CardFile("records.csv", "490b147f899707309f726d5ec61aff3f0a5e0482c403381a3bea0eba5b74218c"),
        CardFile("extraction_gold/lassa_articles.csv", "bc6a9db24deab19bb4938d0f1bcfeb80f05a9c8c0515cd276326e3ae217e587e"),
        CardFile("extraction_gold/lassa_models.csv", "466896488958e60d0035c5e36120568a075ccc8e40d7c313a09ea6ee3787dfcf"),
        CardFile("extraction_gold/lassa_outbreaks.csv", "88eb8d4329c2382163dd515652f0649c8647a80e63c27e024d8919c9cadfcf5f"),
        CardFile("extraction_gold/lassa_parameters.csv", "cf31284b77154e893222b4e9ded68f88ad27e3655242ad8484d2ddb387c1285b"),
    ),
    published=(Published("lassa", 2817, 512, 193),),
    notes=(
        "Record ids are Covidence's, such as #12; the gold's covidence_id is the number in them.",
        "One article has many models, outbreaks and parameters: each row is an item of its own.",
        "NA in the gold is not reported or not applicable; the source does not tell the two apart. Such values are None.",
        "Any Covidence export with the columns of records.csv is read; the folders extraction_gold and criteria may be absent.",
    ),
)
_KINDS = {"articles": "id", "models": "model_data_id", "outbreaks": "outbreak_data_id", "parameters": "parameter_data_id"}
_KEYS = {"id", "covidence_id", "covidence_id_text", *_KINDS.values()}
_CRITERIA = ("abstract_screening", "fulltext_screening")


def parts(folder: Path) -> list[str]:
    """One review."""
    return ["lassa"] if a_file(folder, "records.csv") else []


def load(folder: Path, _part: str | None, _texts: Path | None) -> Corpus:
    """Load records, decisions with reasons, and the extraction gold where it is there."""
    draft = Draft(CARD, folder)
    needed = ("id", "title", "abstract", "label_title_abstract", "label_full_text")
    _read_records(draft, draft.sheet(the_file(folder, "records.csv"), need=needed))
    for kind in _KINDS:
        path = a_file(folder / "extraction_gold", f"lassa_{kind}.csv")
        if path is None:
            draft.notes.append(f"extraction_gold/lassa_{kind}.csv is not there: no gold for {kind}")
        else:
            _read_gold(draft, draft.sheet(path, need=("covidence_id", _KINDS[kind])), kind)
    draft.review("lassa", _review(folder))
    return draft.finish()


def _read_records(draft: Draft, sheet: Sheet) -> None:
    tagged: list[str] = []
    for number, row in sheet.rows:
        record_id = identifier(row["id"])
        if record_id is None:
            draft.aside(sheet, number, "has no id")
            continue
        draft.record(sheet, number, _record(record_id, row, number), "lassa")
        if "duplicate" in re.split(r"\s*;\s*", (row.get("tags") or "").casefold()):
            tagged.append(record_id)
        decision = draft.read_label(record_id, "title_abstract", row["label_title_abstract"], WORDS)
        if decision:
            draft.label(GoldLabel(record_id, "title_abstract", decision))
        decision = draft.read_label(record_id, "full_text", row["label_full_text"], WORDS)
        if decision:
            reason = filled(row.get("full_text_exclusion_reason")) if decision == "exclude" else None
            draft.label(GoldLabel(record_id, "full_text", decision, reason))
    if tagged:
        draft.notes.append(f"{len(tagged)} record(s) carry the tag Duplicate, without saying of which: {examples(tagged)}")


def _record(record_id: str, row: Row, number: int) -> Record:
    fields: dict[str, str | None] = {name: row.get(name) for name in ("title", "abstract", "year", "journal", "doi")}
    authors = re.split(r"\s*;\s*", row.get("authors") or "")
    return build(record_id, fields, authors, number - 1, {key: cell for key, cell in row.items() if cell})


def _read_gold(draft: Draft, sheet: Sheet, kind: str) -> None:
    by_number = {record_id.lstrip("#"): record_id for record_id in draft.records}
    included = draft.included("full_text")
    strangers: list[str] = []
    for number, row in sheet.rows:
        told = row["covidence_id"].strip()
        record_id = by_number.get(told)
        if record_id is None:
            draft.aside(sheet, number, f"its covidence_id '{told}' is the id of no record")
            continue
        draft.used(sheet)
        if record_id not in included:
            strangers.append(record_id)
        item = f"{kind}:{row[_KINDS[kind]].strip()}"
        for column, cell in row.items():
            if column not in _KEYS:
                draft.fields.append(GoldField(record_id, f"{kind}.{column}", filled(cell), item=item))
    if strangers:
        draft.notes.append(f"{kind}: gold for {len(strangers)} record(s) that were not included: {examples(strangers)}")


def _review(folder: Path) -> Review:
    """The criteria of both levels; the files leave places for the pathogen's name and the objectives, which are filled."""
    read = {name: _text(folder / "criteria" / f"{name}.md") for name in (*_CRITERIA, "study_objectives")}
    aims = read["study_objectives"] or ""
    criteria = [f"# {name}\n{text.replace('__STUDY_OBJECTIVES__', aims)}" for name in _CRITERIA if (text := read[name])]
    return Review("lassa", "Lassa fever", read["study_objectives"], "\n\n".join(criteria) or None)


def _text(path: Path) -> str | None:
    if not path.is_file():
        return None
    text = read_bytes(path).decode("utf-8", "replace")
    return filled(text.replace("*__PATHOGEN_NAME__*", "Lassa fever").replace("__PATHOGEN_NAME__", "Lassa fever"))


SETS.register("lassa")(BenchmarkSet(CARD, parts, load))
