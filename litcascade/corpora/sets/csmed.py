"""CSMeD: reviews for title and abstract screening, as the public loaders prepare them: one table a review."""

from collections.abc import Iterator
from pathlib import Path

from litcascade.corpora.build import build
from litcascade.corpora.sets.corpus import SETS, BenchmarkSet, Card, Corpus, GoldLabel, Stage
from litcascade.corpora.sets.draft import Draft, choose
from litcascade.corpora.sets.tables import Row, filled, header_of, natural, read_sheet, stem, tables_in
from litcascade.errors import InputError
from litcascade.schemas import Decision, Record

COLLECTIONS = ("cohen", "sas2010", "swift", "cs_reviews", "sigir2017", "tar2017", "tar2018", "tar2019", "sr_updates")
CARD = Card(
    name="csmed",
    title="CSMeD: a meta-collection of nine collections of labelled reviews, 325 reviews",
    source="https://github.com/WojciechKusa/systematic-review-datasets",
    licence="CC BY-SA 4.0 as declared by the loader; each collection has its own, abstracts belong to their publishers",
    labels={
        "title_abstract": "Label 1 or 0 of collections that are labelled on title and abstract (swift, sas2010, tar2017 to 2019)",
        "full_text": "Label 1 or 0 of collections that give the final decision (cohen, cs_reviews, sigir2017, sr_updates)",
    },
    notes=(
        "The public loaders build the tables on the user's machine from the collections' own sites and PubMed; there is no file "
        "to download. The folder holds <review>.csv or .tsv, or <collection>/<review>.csv, with the columns PMID (or ID), "
        "Title, Abstract, Label, or the loaders' source columns review_name, pmid, title, abstract, label.",
        "The public loader gives labels to the PubMed replies by position, so a prepared table may carry shifted labels where "
        "PubMed left a record out or changed the order: compare includes with the collection's own counts.",
        "The loaders' classes are named (included, excluded), but their numbers are 1 for included and 0 for excluded; words "
        "that were made from the numbers are swapped. Numbers are read as the loaders write them, words as they say.",
        "Record ids are review:PMID; a table without PMIDs is numbered by its rows. sas2010 repeats the title in the abstract.",
    ),
)
_FORMS: dict[str, Decision] = {"1": "include", "0": "exclude", "included": "include", "excluded": "exclude"}
_FINAL = {"cohen", "cs_reviews", "sigir2017", "sr_updates"}
_NAMES = {
    "pmid": ("PMID", "pmid"),
    "id": ("ID", "document_id", "id"),
    "title": ("Title", "title"),
    "abstract": ("Abstract", "abstract"),
    "label": ("Label", "label"),
    "review": ("review_name", "review_id", "Review"),
    "doi": ("doi", "DOI"),
    "year": ("year", "DP"),
    "journal": ("journal", "JT"),
}


def parts(folder: Path) -> list[str]:
    """The reviews, as `collection/review` where they lie in a folder of their collection."""
    return natural(name for path in _tables(folder) for name in _reviews(folder, path))


def _tables(folder: Path) -> list[Path]:
    inner = [path for name in sorted(folder.iterdir()) if name.is_dir() for path in tables_in(name)]
    return [path for path in [*tables_in(folder), *inner] if not path.name.startswith("_")]


def _columns(path: Path) -> dict[str, str]:
    header = header_of(path)
    found = {field: next((name for name in names if name in header), None) for field, names in _NAMES.items()}
    missing = [field for field in ("title", "label") if found[field] is None]
    if missing:
        raise InputError(f"{path}: has no column '{_NAMES[missing[0]][0]}'; its columns are: {', '.join(header)}")
    return {field: name for field, name in found.items() if name}


def _reviews(folder: Path, path: Path) -> Iterator[str]:
    """The reviews in a table: those that its review column names, else the one that its file name says."""
    prefix = "" if path.parent == folder else f"{path.parent.name}/"
    column = _columns(path).get("review")
    names = list(dict.fromkeys(row[column].strip() for _, row in read_sheet(path).rows)) if column else []
    yield from (f"{prefix}{name or stem(path)}" for name in names or [stem(path)])


def load(folder: Path, part: str | None, _texts: Path | None) -> Corpus:
    """Load the reviews; the stage of a label follows the collection that the table's folder names."""
    draft = Draft(CARD, folder)
    wanted = choose(parts(folder), part, folder)
    unplaced: list[str] = []
    for path in _tables(folder):
        here = set(_reviews(folder, path)) & set(wanted)
        if here:
            _read(draft, path, folder, here, unplaced)
    for name in wanted:
        draft.review(name, None)
    if unplaced:
        draft.notes.append(
            f"{len(unplaced)} table(s) lie in no folder named after a collection ({', '.join(COLLECTIONS)}): their labels are "
            "taken as final decisions"
        )
    return draft.finish()


def _read(draft: Draft, path: Path, folder: Path, wanted: set[str], unplaced: list[str]) -> None:
    collection = path.parent.name if path.parent != folder else folder.name
    stage: Stage = "full_text" if collection in _FINAL or collection not in COLLECTIONS else "title_abstract"
    if collection not in COLLECTIONS:
        unplaced.append(path.name)
    sheet = read_sheet(path)
    columns = _columns(path)
    prefix = "" if path.parent == folder else f"{path.parent.name}/"
    names = {name.removeprefix(prefix) for name in wanted}
    column = columns.get("review")
    kept = sheet.only(column, names | ({""} if stem(path) in names else set())) if column else sheet
    for number, row in draft.counted(kept).rows:
        review = prefix + ((row[column].strip() if column else "") or stem(path))
        record = _record(row, columns, review, number)
        draft.record(sheet, number, record, review)
        decision = draft.read_label(record.record_id, stage, row[columns["label"]], _FORMS)
        if decision:
            draft.label(GoldLabel(record.record_id, stage, decision))


def _record(row: Row, columns: dict[str, str], review: str, number: int) -> Record:
    told = {field: row[name] for field, name in columns.items()}
    pmid = (filled(told.get("pmid")) or "").removesuffix(".0")
    own = pmid or filled(told.get("id")) or f"row-{number - 1}"
    fields: dict[str, str | None] = {name: told.get(name) for name in ("title", "abstract", "doi", "year", "journal")}
    fields["pmid"] = pmid
    return build(f"{review}:{own}", fields, [], number - 1, {key: cell for key, cell in row.items() if cell})


SETS.register("csmed")(BenchmarkSet(CARD, parts, load))
