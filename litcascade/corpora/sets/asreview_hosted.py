"""Labelled reviews hosted by ASReview: one table a review, with titles and abstracts."""

from pathlib import Path

from litcascade.corpora.build import build
from litcascade.corpora.sets.corpus import SETS, STAGES, BenchmarkSet, Card, CardFile, Corpus, GoldLabel, Published, Stage
from litcascade.corpora.sets.draft import BINARY, Draft, choose, examples
from litcascade.corpora.sets.framework import read_framework
from litcascade.corpora.sets.tables import Row, Sheet, filled, identifier, natural, stem, tables_in
from litcascade.errors import InputError

_AT = "https://raw.githubusercontent.com/asreview/systematic-review-datasets/metadata-v1-final/datasets"
_FOLDERS = {
    "Appenzeller-Herzog_2020": (3453, 29),
    "Bannach-Brown_2019": (1993, 280),
    "Bos_2018": (5746, 11),
    "Kwok_2020": (2481, 120),
    "Nagtegaal_2019": (2019, 101),
    "Wolters_2018": (5019, 19),
    "van_Dis_2020": (10953, 73),
    "van_de_Schoot_2017": (6189, 43),
}
_SOFTWARE = {"Hall_2012": (8911, 104), "Kitchenham_2010": (1704, 45), "Radjenovic_2013": (6000, 48), "Wahono_2015": (7002, 62)}
_ABSTRACT_INCLUDES = {"Nagtegaal_2019": 392, "van_de_Schoot_2017": 388}
CARD = Card(
    name="asreview_hosted",
    title="Systematic Review Datasets hosted by ASReview (first version)",
    source="https://github.com/asreview/systematic-review-datasets",
    licence="by review: CC BY 4.0 (van de Schoot 2017 and most), CC0 (Nagtegaal 2019); abstracts belong to their publishers",
    labels={
        "title_abstract": "label_abstract_screening 1: kept after reading title and abstract; 0: excluded there",
        "full_text": "label_included 1: in the published review; 0: excluded, also where the article was never read",
    },
    files=(
        *(CardFile(f"{name}.csv", None, f"{_AT}/{name}/output/{name}.csv") for name in _FOLDERS if name != "Nagtegaal_2019"),
        CardFile(
            "Nagtegaal_2019.csv",
            "abfbdb973aa125f26ce872a5193c931d0690f7fe2e1fb75551de9c0acecd200f",
            f"{_AT}/Nagtegaal_2019/output/Nagtegaal_2019.csv",
        ),
        *(CardFile(f"{n}.csv", None, f"{_AT}/Hall_Wahono_Radjenovic_Kitchenham/output/{n}.csv") for n in _SOFTWARE),
        CardFile("van_de_Schoot_2017.xlsx", "d2c7c0b086869568fce5065f6601b7727cf5ad533253695dc2f2655322525007"),
    ),
    published=tuple(
        Published(name, records, _ABSTRACT_INCLUDES.get(name), includes)
        for name, (records, includes) in (_FOLDERS | _SOFTWARE).items()
    ),
    notes=(
        "duplicate_record_id names the record that a row repeats; such rows stay records, and the pairs are in `duplicates`. "
        "In van de Schoot 2017 the marks equal exact matches of normalised titles.",
        "Record ids are review:record_id.",
        "The hosted Cohen 2006 tables belong to the set cohen2006.",
    ),
)
_COLUMNS: dict[Stage, tuple[str, ...]] = {
    "title_abstract": ("label_abstract_screening", "label_abstract_included"),
    "full_text": ("label_included", "included", "final_included"),
}


def parts(folder: Path) -> list[str]:
    """The reviews: one table each."""
    return natural(dict.fromkeys(stem(path) for path in tables_in(folder) if not path.name.endswith((".json", ".json.gz"))))


def load(folder: Path, part: str | None, _texts: Path | None) -> Corpus:
    """Load the reviews; a review that stands there as two tables (csv and xlsx) is an `InputError`."""
    draft = Draft(CARD, folder)
    for name in choose(parts(folder), part, folder):
        files = [path for path in tables_in(folder) if stem(path) == name and not path.name.endswith((".json", ".json.gz"))]
        if len(files) > 1:
            raise InputError(f"{folder}: holds review '{name}' twice ({files[0].name}, {files[1].name}); move one away")
        _read(draft, draft.sheet(files[0], need=("title", "abstract")), name)
        stub = name.rsplit("_", 1)[0]
        draft.review(name, read_framework(folder / f"{stub}_criteria.json", name))
    return draft.finish()


def _read(draft: Draft, sheet: Sheet, review: str) -> None:
    columns = {stage: next((name for name in _COLUMNS[stage] if name in sheet.columns), None) for stage in STAGES}
    if not any(columns.values()):
        raise InputError(f"{sheet.name}: has no label column (label_included); its columns are: {', '.join(sheet.header)}")
    marked: list[tuple[str, str]] = []
    for number, row in sheet.rows:
        own = identifier(row.get("record_id"))
        record_id = f"{review}:{own}" if own else f"{review}:row-{number - 1}"
        authors = (row.get("authors") or row.get("first_authors") or "").split(";")
        record = build(record_id, _fields(row), authors, number - 1, {key: cell for key, cell in row.items() if cell})
        if draft.record(sheet, number, record, review) and (repeats := filled(row.get("duplicate_record_id"))):
            marked.append((record_id, f"{review}:{repeats.removesuffix('.0')}"))
        for stage, column in columns.items():
            decision = draft.read_label(record_id, stage, row[column], BINARY) if column else None
            if decision:
                draft.label(GoldLabel(record_id, stage, decision))
    _note_marked(draft, marked, review)


def _fields(row: Row) -> dict[str, str | None]:
    year = row.get("year") or row.get("publication_year") or row.get("date")
    kept: dict[str, str | None] = {name: row.get(name) for name in ("title", "abstract", "doi", "journal", "pmid", "url")}
    return kept | {"year": year}


def _note_marked(draft: Draft, marked: list[tuple[str, str]], review: str) -> None:
    draft.duplicates += marked
    if marked:
        draft.notes.append(f"{review}: {len(marked)} record(s) are marked as duplicates of another; they are kept")
    lost = [first for first, second in marked if second not in draft.records]
    if lost:
        draft.notes.append(f"{review}: {len(lost)} mark(s) name a record that is not there: {examples(lost)}")


SETS.register("asreview_hosted")(BenchmarkSet(CARD, parts, load))
