"""Libraries for the de-duplication benchmark: labelled ones read where they lie, and seeded perturbations of real records."""

import json
import random
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from litcascade.corpora import read_records
from litcascade.corpora.dedup import normal_doi
from litcascade.corpora.dedup.fold import fold
from litcascade.schemas import Record

LIBRARIES = ("copper", "tafenoquine", "respiratory")


@dataclass
class Library:
    """Records with what is known of their duplicates: marked members of groups, or the original of each record."""

    name: str
    records: list[Record]
    marked: set[str] = field(default_factory=set)
    partly: bool = False  # only some members of each group are marked
    original: dict[str, str] = field(default_factory=dict)


def endnote_library(corpora: Path, name: str) -> Library:
    """One of the three EndNote libraries; `Duplicate` marks every member of a group."""
    records = read_records(corpora / "dedup" / "iebh_sra" / f"{name}.xml.gz")[0].records
    return Library(name, records, {record.record_id for record in records if "Duplicate" in str(record.source.get("caption"))})


def hosted_library(corpora: Path) -> Library:
    """Van de Schoot: 407 records marked as repeating another (the ids of the others are not reliable); no journal or pages."""
    records = read_records(corpora / "asreview_hosted" / "van_de_Schoot_2017.xlsx")[0].records
    marked = {record.record_id for record in records if record.source.get("duplicate_record_id")}
    named = [record.model_copy(update={"authors": _comma_names(record.authors)}) for record in records]
    return Library("van de Schoot", named, marked, partly=True)


def _comma_names(authors: Sequence[str]) -> tuple[str, ...]:
    """`Doe, A. B., Roe, C.` as names."""
    text = ", ".join(authors)
    return tuple(name.strip(" ,") for name in re.findall(r"[^,]+,[^,]+(?:,|$)", text)) or tuple(authors)


def lassa_library(corpora: Path) -> Library:
    """The lassa records; tags mark some members of duplicate groups."""
    records = read_records(corpora / "lassa" / "records.csv")[0].records
    marked = {record.record_id for record in records if "Duplicate" in str(record.source.get("tags"))}
    return Library("lassa", records, marked, partly=True)


def nagtegaal_library(corpora: Path) -> Library:
    """Nagtegaal: titles and abstracts only; 11 records are marked as repeating another."""
    records = read_records(corpora / "asreview_hosted" / "Nagtegaal_2019.csv.gz")[0].records
    return Library("Nagtegaal", records, {one.record_id for one in records if one.source.get("duplicate_record_id")}, partly=True)


def hard_pairs(corpora: Path) -> list[tuple[str, bool, Record, Record]]:
    """The 25 hard pairs: (name, whether they are duplicates, the two records)."""
    cases = json.loads((corpora / "dedup" / "pairs" / "bib_dedupe_test_cases.json").read_text())["cases"]
    return [
        (case["id"], bool(case["expected_duplicate"]), _bibtex("a", case["record_a"]), _bibtex("b", case["record_b"]))
        for case in cases
    ]


def _bibtex(record_id: str, fields: dict[str, str | None]) -> Record:
    row = {name: value for name, value in fields.items() if value}
    return Record(
        record_id=record_id,
        title=row.get("title"),
        abstract=row.get("abstract"),
        authors=tuple(row["author"].split(" and ")) if "author" in row else (),
        year=int(row["year"]) if "year" in row else None,
        journal=row.get("journal") or row.get("booktitle"),
        doi=normal_doi(row.get("doi")),
        volume=row.get("volume"),
        issue=row.get("number"),
        pages=row.get("pages"),
        kind=row.get("ENTRYTYPE"),
    )


def real_records(corpora: Path) -> list[Record]:
    """Real records of every set with titles, none with the title (or its first thirty letters) of another."""
    found = [record for name in LIBRARIES for record in endnote_library(corpora, name).records]
    found += [*lassa_library(corpora).records, *hosted_library(corpora).records]
    for path in sorted((corpora / "cohen2006").glob("*.csv*")):
        found += read_records(path)[0].records
    seen: set[str] = set()
    kept = []
    for record in found:
        key = fold(record.title or "").replace(" ", "")
        if len(key) >= 30 and not {key, key[:30]} & seen and record.authors and record.year:
            seen |= {key, key[:30]}
            kept.append(record)
    return kept


def perturbed(records: Sequence[Record], size: int, seed: int = 1) -> Library:
    """A library of `size` records: originals, each with none, one or two perturbed copies, shuffled.

    Where there are too few real records, more originals are made by crossing two: the first half of one title and the second
    of another, the authors of one and the journal of the other.
    """
    rng = random.Random(seed)
    library = Library(f"{size:,} perturbed", [])
    pool = list(records)
    rng.shuffle(pool)
    number = 0
    while len(library.records) < size:
        base = _placed(pool[number] if number < len(pool) else _crossed(rng, records), rng, number)
        number += 1
        for copy in range(min(1 + rng.choice((0, 1, 2)), size - len(library.records))):
            record = base if copy == 0 else _perturb(base, rng)
            record = record.model_copy(update={"record_id": f"p{len(library.records)}"})
            library.original[record.record_id] = str(number)
            library.records.append(record)
    rng.shuffle(library.records)
    return library


def _placed(record: Record, rng: random.Random, number: int) -> Record:
    """The record with volume, pages, journal and (for two in three) a DOI of its own, where it has none."""
    first = rng.randrange(1, 1500)
    journals = ("Journal of Applied Medicine", "Annals of Clinical Research", "Trials Quarterly")
    return record.model_copy(
        update={
            "journal": record.journal or rng.choice(journals),
            "volume": record.volume or str(rng.randrange(1, 90)),
            "pages": record.pages or f"{first}-{first + rng.randrange(2, 14)}",
            "doi": f"10.5555/bench.{number}" if rng.random() < 2 / 3 else None,
            "pmid": None,
            "pmcid": None,
            "source": {},
        }
    )


def _crossed(rng: random.Random, records: Sequence[Record]) -> Record:
    one, other = rng.choice(records), rng.choice(records)
    a, b = (one.title or "").split(), (other.title or "").split()
    title = " ".join([*a[: (len(a) + 1) // 2], *b[len(b) // 2 :]])
    update = {"title": title, "journal": other.journal, "year": other.year, "abstract": None, "pages": None, "volume": None}
    return one.model_copy(update=update)


def _perturb(record: Record, rng: random.Random) -> Record:
    """A copy as another database might hold it: two to five changes of title, authors, year, journal, pages, abstract, DOI."""
    changes = rng.sample(_CHANGES, rng.randrange(2, 6))
    update: dict[str, object] = {change: None for change in ("doi", "abstract") if change in changes}
    if "authors" in changes:
        update["authors"] = tuple(_other_name(name, rng) for name in record.authors)
    if "year" in changes and record.year:
        update["year"] = record.year + rng.choice((-1, 1))
    if "journal" in changes:
        update["journal"] = _abbreviated(record.journal or "")
    if "pages" in changes:
        update["pages"] = _short_pages(record.pages or "")
    title = record.title or ""
    for change in changes:
        title = _other_title(title, change, rng)
    return record.model_copy(update={**update, "title": title})


_CHANGES = ("doi", "authors", "year", "journal", "pages", "abstract", "typo", "case", "accents", "truncated", "subtitle")


def _other_title(title: str, change: str, rng: random.Random) -> str:
    if change == "typo":
        at = rng.randrange(len(title))
        head, letter, tail = title[:at], title[at], title[at + 1 :]
        return rng.choice((head + tail, head + rng.choice("aeionrst") + letter + tail, head + tail[:1] + letter + tail[1:]))
    if change == "case":
        return title.upper()
    if change == "accents":
        return title.replace("&", "&amp;").replace("<", "&lt;").replace("é", "&eacute;").replace("-", "–").replace("'", "’")
    if change == "truncated" and len(title) > 60:
        return title[: rng.randrange(len(title) * 2 // 3, len(title))]
    if change == "subtitle" and ": " in title[20:]:
        return title[: title.index(": ", 20)]
    return title


def _other_name(name: str, rng: random.Random) -> str:
    """`Doe, Jane A.` as `Doe JA`, `J. A. Doe` or `DOE, J.`."""
    surname, comma, given = name.partition(",")
    initials = [word[0] for word in re.findall(r"\w+", given)]
    if not comma or not initials:
        return name
    forms = (f"{surname} {''.join(initials)}", f"{'. '.join(initials)}. {surname}", f"{surname.upper()}, {initials[0]}.")
    return rng.choice(forms)


def _abbreviated(journal: str) -> str:
    """`Annals of Clinical Research` as `Anna Clin Rese`."""
    small = {"of", "the", "and", "in", "for", "&"}
    return " ".join(word if len(word) <= 4 else word[:4] for word in journal.split() if word.casefold() not in small)


def _short_pages(pages: str) -> str:
    """`1021-1029` as `1021-9`, or the first page alone."""
    first, dash, last = pages.partition("-")
    same = next((k for k, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), 0)
    return f"{first}-{last[same:]}" if dash and len(first) == len(last) and same else first
