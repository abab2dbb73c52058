"""A SciLitBench-style release: frozen splits, gold and silver labels, rationales, extraction values with their schema."""

from collections.abc import Mapping
from pathlib import Path

from litcascade.corpora.build import build
from litcascade.corpora.sets.corpus import SETS, BenchmarkSet, Card, Corpus, GoldField, GoldLabel, Published, Review, Source
from litcascade.corpora.sets.draft import Draft, examples
from litcascade.corpora.sets.mapping import ReleaseMap, TableMap, read_mapping
from litcascade.corpora.sets.tables import Row, Sheet, a_file, filled, identifier, parse_object, read_bytes, read_sheet
from litcascade.corpora.sets.texts_given import document_of, documents_in
from litcascade.corpora.texts import ENDINGS, file_form
from litcascade.errors import InputError
from litcascade.schemas import Decision

MAPPING = "mapping.toml"
CARD = Card(
    name="scilitbench",
    title="SciLitBench-style release: screening with rationales, and extraction",
    source="https://arxiv.org/abs/2609.05505",
    licence="as the release states; not seen",
    labels={
        "title_abstract": "gold: a person's decision; silver: made by machine or by rule",
        "full_text": "a person's decision on the full text",
        "extraction": "values of the fields in the release's schema",
    },
    published=(Published("scilitbench", 42981, None, None),),
    notes=(
        "Written from the paper: the release's files were not seen. mapping.toml in the folder says which file and column holds "
        "what; without one, the names in litcascade/corpora/sets/scilitbench.toml are tried.",
        "Published: 2,000 records with gold labels (52 included), frozen as 10 development, 200 few-shot and 1,800 evaluation "
        "(that is 2,010); 200 full texts (172 included) as 8, 50 and 150 (208); 888 papers with 6 extraction fields.",
        "A record may have a gold and a silver label at a stage; both are kept, and tools use the gold one unless told.",
    ),
)


def mapping_of(folder: Path) -> ReleaseMap:
    """The folder's mapping.toml, or the one that comes with the program."""
    own = folder / MAPPING
    return read_mapping(own if own.is_file() else Path(__file__).with_name("scilitbench.toml"))


def parts(folder: Path) -> list[str]:
    """The review that the mapping names."""
    return [mapping_of(folder).review]


def load(folder: Path, part: str | None, _texts: Path | None) -> Corpus:
    """Load every table that the mapping names; one that is not there is an `InputError` that says how to leave it out."""
    draft = Draft(CARD, folder)
    mapping = mapping_of(folder)
    if part not in (None, mapping.review):
        raise InputError(f"{folder}: holds no part '{part}'; there is: {mapping.review}")
    order = {"screening": 0, "texts": 1, "extraction": 2}
    for table in sorted(mapping.tables, key=lambda table: order[table.kind]):
        path = a_file(folder, table.file)
        if path is None:
            raise InputError(f"{folder}: holds no file '{table.file}'; change it in {MAPPING}, or leave the table out there")
        _READERS[table.kind](draft, _checked(read_sheet(path), table), table, mapping.review)
    _read_folder(draft, folder, mapping)
    draft.review(mapping.review, _review(draft, folder, mapping))
    _note_splits(draft)
    return draft.finish()


def _checked(sheet: Sheet, table: TableMap) -> Sheet:
    sheet.need(*(name for name in [*table.columns.model_dump().values(), *table.fields.values()] if name))
    return sheet


def _cell(row: Row, column: str) -> str | None:
    return filled(row[column]) if column else None


def _read_screening(draft: Draft, sheet: Sheet, table: TableMap, review: str) -> None:
    forms: dict[str, Decision] = {word.casefold(): "include" for word in table.include}
    forms |= {word.casefold(): "exclude" for word in table.exclude}
    columns = table.columns
    for number, row in draft.counted(sheet).rows:
        record_id = identifier(row[columns.record_id])
        if record_id is None:
            draft.aside(sheet, number, "has no record id")
            continue
        source = _source(draft, row, table, record_id)
        _place(draft, sheet, number, row, table, review)
        decision = draft.read_label(record_id, table.stage, row[columns.label], forms, f" in {draft.short(sheet.name)}")
        if decision and source:
            reason, quote, rationale = (_cell(row, name) for name in (columns.reason, columns.quote, columns.rationale))
            draft.label(GoldLabel(record_id, table.stage, decision, reason, source, quote, rationale))
        split = _cell(row, columns.split) or table.split
        if split and record_id in draft.records:
            draft.into_split(f"{table.stage}:{split.strip().casefold()}", record_id)


def _source(draft: Draft, row: Row, table: TableMap, record_id: str) -> Source | None:
    """Whether a label is gold or silver; a word that is neither is listed, and the label is left out."""
    word = (_cell(row, table.columns.source) or "").casefold()
    if not word:
        return table.source
    if word in table.gold:
        return "gold"
    if word in table.silver:
        return "silver"
    draft.notes.append(f"{record_id}: the label's source '{word}' is neither gold nor silver; the label was left out")
    return None


def _place(draft: Draft, sheet: Sheet, number: int, row: Row, table: TableMap, review: str) -> None:
    """Add the record of a row, or count the row for a record that an earlier table (or row) brought."""
    columns = table.columns
    record_id = identifier(row[columns.record_id]) or ""
    names = ("title", "abstract", "year", "journal", "doi", "pmid")
    fields = {name: row[column] if (column := getattr(columns, name)) else None for name in names}
    authors = (_cell(row, columns.authors) or "").split(";")
    source = {key: cell for key, cell in row.items() if cell and key != columns.text}
    record = build(record_id, fields, authors, number - 1, source)
    if draft.sheet_of(record_id) in (None, sheet.name):
        draft.record(sheet, number, record, review)
        return
    draft.used(sheet)
    if draft.records[record_id].title is None:
        draft.records[record_id] = record


def _read_texts(draft: Draft, sheet: Sheet, table: TableMap, _review: str) -> None:
    seen: set[str] = set()
    for number, row in draft.counted(sheet).rows:
        record_id = identifier(row[table.columns.record_id])
        if record_id not in draft.records or record_id in seen:
            draft.aside(sheet, number, f"its id '{record_id}' is the id of no record, or stands before")
            continue
        seen.add(record_id)
        draft.used(sheet)
        draft.documents.append(document_of(draft.records[record_id], row[table.columns.text], f"{table.file}#{record_id}"))


def _read_extraction(draft: Draft, sheet: Sheet, table: TableMap, _review: str) -> None:
    columns = table.columns
    for number, row in draft.counted(sheet).rows:
        record_id = identifier(row[columns.record_id])
        if record_id is None or record_id not in draft.records:
            draft.aside(sheet, number, f"its id '{record_id}' is the id of no record")
            continue
        long = {_cell(row, columns.field) or "": row[columns.value]} if columns.field else {}
        values: Mapping[str, str] = long or {name: row[column] for name, column in table.fields.items()}
        if "" in values:
            draft.aside(sheet, number, "names no field")
            continue
        draft.used(sheet)
        item, quote, rationale, who = (
            _cell(row, name) for name in (columns.item, columns.quote, columns.rationale, columns.annotator)
        )
        draft.fields += [GoldField(record_id, name, filled(cell), item, quote, rationale, who) for name, cell in values.items()]


_READERS = {"screening": _read_screening, "texts": _read_texts, "extraction": _read_extraction}


def _read_folder(draft: Draft, folder: Path, mapping: ReleaseMap) -> None:
    place = folder / mapping.texts
    if not mapping.texts or not place.is_dir():
        return
    by_form = {file_form(record_id): record_id for record_id in draft.records}
    files: dict[str, Path] = {}
    strangers: list[str] = []
    for path in sorted(place.iterdir()):
        plain = path.with_suffix("") if path.suffix.lower() == ".gz" else path
        record_id = by_form.get(file_form(plain.stem)) if plain.suffix.lower() in ENDINGS else None
        if record_id is None or record_id in files:
            strangers.append(path.name)
        else:
            files[record_id] = path
    draft.documents += documents_in(files).values()
    if strangers:
        draft.notes.append(
            f"{len(strangers)} file(s) in {mapping.texts} belong to no record, or to one that has a text: {examples(strangers)}"
        )


def _review(draft: Draft, folder: Path, mapping: ReleaseMap) -> Review:
    texts = {name: _text(folder, getattr(mapping, name)) for name in ("question", "criteria", "field_schema")}
    if mapping.field_schema and texts["field_schema"]:
        parse_object(texts["field_schema"].encode(), mapping.field_schema)
    for name, text in texts.items():
        if text is None:
            draft.notes.append(f"there is no {name.replace('_', ' ')}")
    return Review(mapping.review, None, texts["question"], texts["criteria"], fields=texts["field_schema"])


def _text(folder: Path, name: str) -> str | None:
    path = a_file(folder, name) if name else None
    return filled(read_bytes(path).decode("utf-8", "replace")) if path else None


def _note_splits(draft: Draft) -> None:
    """Splits of one stage that share records."""
    names = list(draft.splits)
    for position, first in enumerate(names):
        for second in names[position + 1 :]:
            shared = sorted(draft.splits[first].keys() & draft.splits[second].keys())
            if shared and first.partition(":")[0] == second.partition(":")[0]:
                draft.notes.append(f"splits {first} and {second} share {len(shared)} record(s): {examples(shared)}")


SETS.register("scilitbench")(BenchmarkSet(CARD, parts, load))
