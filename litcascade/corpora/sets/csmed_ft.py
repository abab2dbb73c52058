"""CSMeD-FT: full-text screening of papers for Cochrane reviews, with criteria and reasons for exclusion."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from litcascade.corpora.build import build
from litcascade.corpora.sets.corpus import SETS, BenchmarkSet, Card, CardFile, Corpus, GoldLabel, Published, Review
from litcascade.corpora.sets.draft import WORDS, Draft, choose, examples
from litcascade.corpora.sets.tables import (
    Row,
    Sheet,
    a_file,
    filled,
    identifier,
    parse_object,
    parse_sheet,
    read_bytes,
    zip_members,
)
from litcascade.corpora.sets.texts_given import document_of
from litcascade.errors import InputError
from litcascade.schemas import DocumentState, Record

_COMMIT = "b30e9739939f52b1e799295138791f1fd5b002a5"
SPLITS = ("train", "dev", "test", "sample")
CARD = Card(
    name="csmed_ft",
    title="CSMeD-FT: full-text screening for Cochrane reviews",
    source="https://github.com/WojciechKusa/systematic-review-datasets",
    licence="CC BY-SA 4.0 as declared by the loader; review texts are Cochrane's, main texts have the licences of their papers",
    labels={"full_text": "decision `included` or `excluded` after reading the full text, with the reason for exclusion"},
    files=(
        CardFile("CSMeD-FT-sample.csv", "dd7c9a82da2e32b90dd8ea4b2f65ab7b14fd448a2375a22e792dafd79128e31f"),
        CardFile("CSMeD-FT-sample_reviews_metadata.json", "e3a473ebf624c9ab95d21bd0c5acc546414b8d1b8dea7b98ba989b51e3d42e35"),
        CardFile(
            "CSMeD-FT.zip",
            None,
            f"https://raw.githubusercontent.com/WojciechKusa/systematic-review-datasets/{_COMMIT}/data/CSMeD/CSMeD-FT.zip",
        ),
    ),
    published=(
        Published("train", 2053, None, 904),
        Published("dev", 644, None, 202),
        Published("test", 636, None, 278),
        Published("sample", 50, None, 22),
    ),
    notes=(
        "Parts are the published splits; `sample` is the paper's test-small, a part of `test`, so their documents are the same.",
        "Splits are by review: no review stands in two of train, dev and test.",
        "An empty main text becomes a document with state `empty`, so that the record is referred and not decided.",
        "The public loader's classes are named (included, excluded) but its numbers are 1 for included, 0 for excluded; "
        "names that were made from its numbers are swapped.",
    ),
)
_NEEDED = ("review_id", "document_id", "decision", "title", "abstract", "main_text")


def parts(folder: Path) -> list[str]:
    """The published splits that the folder, or the archive CSMeD-FT.zip in it, holds."""
    members = _members(folder)
    return [split for split in SPLITS if a_file(folder, f"CSMeD-FT-{split}.csv") or f"CSMeD-FT-{split}.csv" in members]


def _members(folder: Path) -> dict[str, bytes]:
    archive = a_file(folder, "CSMeD-FT.zip")
    return {Path(name).name: raw for name, raw in zip_members(archive).items()} if archive else {}


def load(folder: Path, part: str | None, _texts: Path | None) -> Corpus:
    """Load the splits; with `test` there, `sample` is loaded only where it is asked for, being a part of it."""
    draft = Draft(CARD, folder)
    members = _members(folder)
    found = parts(folder)
    wanted = choose(found, part, folder)
    if part is None and {"test", "sample"} <= set(wanted):
        wanted.remove("sample")
        draft.notes.append("`sample` was left out: its documents are in `test`")
    for split in wanted:
        raw, name = _content(folder, members, f"CSMeD-FT-{split}.csv")
        sheet = parse_sheet(raw, f"CSMeD-FT-{split}.csv", name)
        sheet.need(*_NEEDED)
        raw, name = _content(folder, members, f"CSMeD-FT-{split}_reviews_metadata.json")
        reviews, digest = parse_object(raw, name)
        draft.saw(name, digest)
        _read(draft, draft.counted(sheet), split, reviews)
    return draft.finish()


def _content(folder: Path, members: dict[str, bytes], name: str) -> tuple[bytes, str]:
    path = a_file(folder, name)
    if path is not None:
        return read_bytes(path), str(path)
    if name in members:
        return members[name], str(folder / "CSMeD-FT.zip" / name)
    raise InputError(f"{folder}: holds no file '{name}'; bring it from {CARD.source}")


def _read(draft: Draft, sheet: Sheet, split: str, reviews: dict[str, Any]) -> None:
    empty: list[str] = []
    for number, row in sheet.rows:
        record = _record(row, number)
        if record is None:
            draft.aside(sheet, number, "has no document_id")
            continue
        if draft.record(sheet, number, record, row["review_id"].strip()):
            draft.into_split(split, record.record_id)
            document = document_of(record, row["main_text"], f"{sheet.name}#{record.record_id}")
            draft.documents.append(document)
            if document.state is DocumentState.EMPTY:
                empty.append(record.record_id)
        decision = draft.read_label(record.record_id, "full_text", row["decision"], WORDS)
        if decision:
            reason = filled(row.get("reason_for_exclusion")) if decision == "exclude" else None
            draft.label(GoldLabel(record.record_id, "full_text", decision, reason))
    if empty:
        draft.notes.append(f"{split}: {len(empty)} document(s) have no main text: {examples(empty)}")
    _add_reviews(draft, sheet, reviews)


def _record(row: Row, number: int) -> Record | None:
    record_id = identifier(row["document_id"])
    if record_id is None:
        return None
    fields: dict[str, str | None] = {name: row.get(name) for name in ("title", "abstract", "year", "journal", "doi")}
    fields["pmid"] = row.get("PubMed ID")
    source = {key: cell for key, cell in row.items() if cell and key != "main_text"}
    return build(record_id, fields, [row.get("authors") or ""], number - 1, source)


def _add_reviews(draft: Draft, sheet: Sheet, reviews: dict[str, Any]) -> None:
    names = list(dict.fromkeys(row["review_id"].strip() for _, row in sheet.rows))
    for name in names:
        told = reviews.get(name)
        draft.review(name, _review(name, told) if isinstance(told, dict) else None)
    lost = [name for name in names if draft.reviews[name].criteria is None]
    if lost:
        draft.notes.append(f"{len(lost)} review(s) have no criteria: {examples(lost)}")


def _review(name: str, told: dict[str, Any]) -> Review:
    searches = told.get("search_strategy")
    query = "\n\n".join(_strings(searches)) if isinstance(searches, dict) else None
    texts = {key: filled(value) if isinstance(value := told.get(key), str) else None for key in ("title", "abstract")}
    return Review(name, texts["title"], criteria=_criteria(told), query=query or None, abstract=texts["abstract"])


def _criteria(told: dict[str, Any]) -> str | None:
    """The criteria under their headings; where there are none, as one text."""
    criteria = told.get("criteria")
    if isinstance(criteria, dict) and criteria:
        return "\n\n".join(_strings(criteria))
    text = told.get("criteria_text")
    return filled(text) if isinstance(text, str) else None


def _strings(found: dict[str, Any]) -> Iterator[str]:
    for heading, text in found.items():
        yield f"{heading}\n{text}"


SETS.register("csmed_ft")(BenchmarkSet(CARD, parts, load))
