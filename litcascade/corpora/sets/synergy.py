"""SYNERGY: identifiers, final labels and written criteria; titles and abstracts from OpenAlex or a local copy."""

import tomllib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from litcascade.corpora.sets.corpus import SETS, BenchmarkSet, Card, CardFile, Corpus, GoldLabel, Published, Review, Stage
from litcascade.corpora.sets.draft import BINARY, Draft, choose, examples
from litcascade.corpora.sets.openalex import BASE, BATCH, Fetched, fetch_works
from litcascade.corpora.sets.tables import Row, Sheet, a_file, filled, natural, read_bytes, read_sheet, stem, tables_in
from litcascade.corpora.sets.texts import Texts, keys_of
from litcascade.errors import InputError
from litcascade.web import Web

_AT = "https://raw.githubusercontent.com/asreview/synergy-dataset/74b6fde5ed15e1c15b5f0e5c5f8cec9feacbb3ef"
_REVIEWS = """
Yu_2018/Hall_2012 8911 104
Yu_2018/Radjenovic_2013 6000 48
Donners_2021/Donners_2021 660 15
Meijboom_2021/Meijboom_2021 2224 37
van_der_Valk_2021/van_der_Valk_2021 1023 93
Smid_2020/Smid_2020 3980 27
Brouwer_2019/Brouwer_2019 ? ?
Appenzeller-Herzog_2019/Appenzeller-Herzog_2019 3479 26
Bos_2018/Bos_2018 5756 10
Cohen_2006/Nelson_2002 368 80
Cohen_2006/Chou_2004 1643 9
Cohen_2006/Chou_2003 1915 15
van_de_Schoot_2018/van_de_Schoot_2018 6225 38
van_Dis_2020/van_Dis_2020 10220 73
Wolters_2018/Wolters_2018 5038 19
Leenaars_2019/Leenaars_2019 10388 17
Menon_2022/Menon_2022 976 75
van_der_Waal_2022/van_der_Waal_2022 4070 33
Muthu_2021/Muthu_2021 3254 354
Jeyaraman_2020/Jeyaraman_2020 1194 96
Moran_2021/Moran_2021 5629 120
Moran_2021_corrected/Moran_2021_corrected 5453 142
Oud_2018/Oud_2018 1053 20
Howard_2016/Wassenaar_2017 7700 111
Howard_2016/Walker_2018 ? ?
Leenaars_2020/Leenaars_2020 9543 792
Sep_2021/Sep_2021 273 40
"""
_SUMS = {
    "Appenzeller-Herzog_2019": "9b9046b66e90316048bf2d3258091f21508956bdae4103851c7ae753b6edb84d",
    "Donners_2021": "a656faeb6210ca380358430f8acf4c654c6039cee65bc4271aca2a50cd083386",
    "Hall_2012": "c948a5d88569aeed7618325e236934578ea0234e02d703d51e135014c829e161",
    "Menon_2022": "194016a756f91a010544d8af5cbcedee8ee289323fe7322f3d178d29e78e0385",
    "Moran_2021_corrected": "6a653603917705a9f8f703e3a91708e21f0424274b780cf7346a162374de8fb9",
    "Nelson_2002": "798ddeab23e27e17ec1552343c1623932de7a4bc58764b5e9befaec0ddca7886",
    "Sep_2021": "d992410b0df1aa5b59b391427dfcfc5f71cf849bed82ae97b34877fc3d478dc8",
    "Wassenaar_2017": "dc1650b4dbfed1057f8fa9bbd01c30e550d79b730b3c40bc2dcbaefee3607cd4",
    "van_de_Schoot_2018": "d6f761f9bbf2389757fd1cb1361959ba9a2c6c5c25ca5444b2ddb79c27e3e4e4",
}


def _released() -> list[tuple[str, str]]:
    """(Folder in the release, name) of the reviews."""
    return [(line.split()[0], line.split()[0].partition("/")[2]) for line in _REVIEWS.strip().splitlines()]


def _counts() -> tuple[Published, ...]:
    """Rows and includes of the released tables, where they were counted."""
    lines = [line.split() for line in _REVIEWS.strip().splitlines()]
    return tuple(Published(at.partition("/")[2], int(rows), None, int(kept)) for at, rows, kept in lines if rows.isdigit())


CARD = Card(
    name="synergy",
    title="SYNERGY: identifiers and labels of published reviews",
    source="https://github.com/asreview/synergy-dataset",
    licence="CC0 (identifiers, labels, criteria); titles and abstracts come from OpenAlex (CC0)",
    labels={
        "full_text": "label_included 1: in the published review; 0: not, at whatever stage it was excluded",
        "title_abstract": "label_abstract_included, in the few reviews that have it (Moran 2021)",
    },
    files=(
        CardFile("datasets.toml", "8c714ce8619ebd385c0311a99b6320f67e8c7b7346c726e84a4f76007247a1a4", f"{_AT}/datasets.toml"),
        *(CardFile(f"{name}_ids.csv", _SUMS.get(name), f"{_AT}/datasets/{where}_ids.csv") for where, name in _released()),
    ),
    published=_counts(),
    notes=(
        "Record ids are review:row, rows from 1 in the released file, since a row may have no identifier at all.",
        "Several rows can be matched to one OpenAlex work; they stay records, and are counted in the notes.",
        "A row finds its text by OpenAlex id, then DOI, then PMID.",
        "The release holds further reviews that it marks as not active (older Cohen 2006 tables and others); they load alike.",
    ),
)
CACHE = "openalex_works.jsonl"
_ENDING = "_ids"
_COLUMNS: tuple[tuple[Stage, str], ...] = (("title_abstract", "label_abstract_included"), ("full_text", "label_included"))


def parts(folder: Path) -> list[str]:
    """The reviews: one table `<review>_ids.csv` each."""
    return natural(stem(path).removesuffix(_ENDING) for path in tables_in(folder, f"*{_ENDING}.csv*"))


def load(folder: Path, part: str | None, texts: Path | None) -> Corpus:
    """Load the reviews; texts from `texts`, else from the cache that `fetch_texts` left in the folder."""
    draft = Draft(CARD, folder)
    cache = folder / CACHE
    source = Texts(texts or (cache if cache.is_file() else None))
    criteria = _criteria(draft, folder)
    for name in choose(parts(folder), part, folder):
        path = a_file(folder, f"{name}{_ENDING}.csv")
        if path is not None:
            _read(draft, draft.sheet(path, need=("label_included",)), name, source)
        told = criteria.get(name) or criteria.get(name.removesuffix("_corrected"))
        draft.review(name, replace(told, name=name) if told else None)
    source.note(draft)
    return draft.finish()


def _ids(row: Row) -> dict[str, str | None]:
    return {"openalex": row.get("openalex_id"), "doi": row.get("doi"), "pmid": row.get("pmid")}


def _read(draft: Draft, sheet: Sheet, name: str, texts: Texts) -> None:
    bare: list[str] = []
    rows_of: dict[str, list[str]] = {}
    for number, row in sheet.rows:
        record_id = f"{name}:{number - 1}"
        keys = keys_of(_ids(row))
        if not keys:
            bare.append(record_id)
        elif keys[0].startswith("W"):
            rows_of.setdefault(keys[0], []).append(record_id)
        draft.record(sheet, number, texts.record(record_id, _ids(row), number, row), name)
        for stage, column in _COLUMNS:
            decision = draft.read_label(record_id, stage, row.get(column), BINARY)
            if decision:
                draft.label(GoldLabel(record_id, stage, decision))
    if bare:
        draft.notes.append(f"{name}: {len(bare)} record(s) have no identifier, so no text can be found: {examples(bare)}")
    shared = [ids for ids in rows_of.values() if len(ids) > 1]
    if shared:
        apart = sum(len({draft.decision(record_id, "full_text") for record_id in ids}) > 1 for ids in shared)
        draft.notes.append(
            f"{name}: {sum(map(len, shared))} rows are matched to {len(shared)} OpenAlex works; {apart} of these works have "
            "rows with different labels"
        )


def _criteria(draft: Draft, folder: Path) -> dict[str, Review]:
    """Reviews by key, from datasets.toml; each with its own criteria where the file has them."""
    path = a_file(folder, "datasets.toml")
    if path is None:
        draft.notes.append("datasets.toml is not there: no criteria")
        return {}
    raw = read_bytes(path)
    draft.saw_bytes(path, raw)
    try:
        told = tomllib.loads(raw.decode("utf-8", "replace")).get("datasets", [])
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path}: is not readable TOML ({error}); bring the file again") from None
    entries = [entry for entry in told if isinstance(entry, dict) and isinstance(entry.get("key"), str)]
    return {entry["key"]: _review(entry) for entry in entries}


def _review(entry: dict[str, Any]) -> Review:
    publication = entry.get("publication")
    text = publication.get("eligibility_criteria") if isinstance(publication, dict) else None
    return Review(entry["key"], criteria=filled(text) if isinstance(text, str) else None)


def fetch_texts(
    folder: Path,
    part: str | None = None,
    *,
    cache: Path | None = None,
    base: str = BASE,
    mailto: str | None = None,
    api_key: str | None = None,
    batch: int = BATCH,
    web: Web | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Fetched:
    """Bring the texts of a review (or all) from OpenAlex into `cache` (a file in the folder by default); see `fetch_works`.

    Each row is asked for by its surest identifier; rows without any are not asked for.
    """
    names = choose(parts(folder), part, folder)
    files = [path for name in names if (path := a_file(folder, f"{name}{_ENDING}.csv"))]
    keys = [found[0] for path in files for _, row in read_sheet(path).rows if (found := keys_of(_ids(row)))]
    target = cache or folder / CACHE
    return fetch_works(keys, target, base=base, mailto=mailto, api_key=api_key, batch=batch, web=web, progress=progress)


SETS.register("synergy")(BenchmarkSet(CARD, parts, load, needs_texts=True))
