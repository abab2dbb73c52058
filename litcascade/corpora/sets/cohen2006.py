"""Cohen 2006: fifteen reviews of drug classes, as hosted by ASReview (with texts) or as first released (PMIDs only)."""

from pathlib import Path

from litcascade.corpora.build import build, read_digits
from litcascade.corpora.sets.corpus import SETS, STAGES, BenchmarkSet, Card, CardFile, Corpus, GoldLabel, Published, Stage
from litcascade.corpora.sets.draft import BINARY, Draft, choose
from litcascade.corpora.sets.framework import by_machine, read_framework
from litcascade.corpora.sets.tables import Row, Sheet, a_file, natural, read_sheet, stem, tables_in
from litcascade.corpora.sets.texts import Texts
from litcascade.schemas import Decision, Record

_HOSTED = (
    "https://raw.githubusercontent.com/asreview/systematic-review-datasets/metadata-v1-final/datasets/Cohen_2006/output/online"
)
_SUMS = {
    "ACEInhibitors": "67bc0b3ad9bd9d98610cfe124336fb192a19a921dfb6ac52ee486caac64fd27f",
    "ADHD": "762e19ddf4f0ecbaa23c8330e04f438ab7da7a08c20b13dacd4354a366c2abcf",
    "Estrogens": "73283554279fcb256670ef36d13ad7271e2689f40f4ada585eaa0f04cd6520ea",
    "ProtonPumpInhibitors": "37bcfdc76bf7826c1141cbd4ffe22dde75fb354c3c326c900c364c365b97762f",
    "Triptans": "f0fd3f247420b63ae3b389535c068e17963c6da50fb0707e6f429d556d7e1757",
}
_TOPICS = (
    Published("ACEInhibitors", 2544, 183, 41),
    Published("ADHD", 851, 84, 20),
    Published("Antihistamines", 310, None, 16),
    Published("AtypicalAntipsychotics", 1120, None, 146),
    Published("BetaBlockers", 2072, None, 42),
    Published("CalciumChannelBlockers", 1218, None, 100),
    Published("Estrogens", 368, 80, 80),
    Published("NSAIDS", 393, None, 41),
    Published("Opiods", 1915, None, 15),
    Published("OralHypoglycemics", 503, None, 136),
    Published("ProtonPumpInhibitors", 1333, 238, 51),
    Published("SkeletalMuscleRelaxants", 1643, None, 9),
    Published("Statins", 3465, None, 85),
    Published("Triptans", 671, 218, 24),
    Published("UrinaryIncontinence", 327, None, 40),
)
CARD = Card(
    name="cohen2006",
    title="Cohen et al. 2006: reviews of drug classes by the Drug Effectiveness Review Project",
    source="https://dmice.ohsu.edu/cohenaa/systematic-drug-class-review-data.html",
    licence="custom open licence of the source; abstracts belong to their publishers",
    labels={
        "title_abstract": "1: kept after reading title and abstract; 0: excluded there",
        "full_text": "1: kept after reading the article; 0: excluded, also where the article was never read because the "
        "abstract was excluded",
    },
    files=(
        *(CardFile(f"{told.part}.csv", _SUMS.get(told.part), f"{_HOSTED}/{told.part}.csv") for told in _TOPICS),
        CardFile("epc-ir.clean.tsv", None, "https://dmice.ohsu.edu/cohenaa/epc-ir-data/epc-ir.clean.tsv"),
    ),
    published=_TOPICS,
    notes=(
        "Record ids are topic:PMID. The same PMID can stand under two topics with different labels; de-duplicate within a "
        "topic only.",
        "The first release (epc-ir.clean.tsv) has PMIDs only and gives the reason of exclusion as a digit; texts come from a "
        "local copy.",
        "In Estrogens the two levels have the same labels.",
    ),
)
_RAW = "epc-ir.clean.tsv"
_RAW_COLUMNS = ("topic", "endnote_id", "pmid", "abstract", "article")
_REASONS = {
    "1": "foreign language",
    "2": "wrong outcome",
    "3": "wrong drug",
    "4": "wrong population",
    "5": "wrong publication type",
    "6": "wrong study design",
    "7": "wrong study duration",
    "8": "background article",
    "9": "only an abstract available",
}
_CODES: dict[str, Decision] = dict.fromkeys(_REASONS, "exclude")
_RAW_FORMS: dict[str, Decision] = {"i": "include", "e": "exclude", **_CODES}
_COLUMNS: dict[Stage, str] = {"title_abstract": "label_abstract_screening", "full_text": "label_included"}


def parts(folder: Path) -> list[str]:
    """The topics: one table each, or those named in the first release's table."""
    tables = [stem(path) for path in tables_in(folder) if stem(path) != "epc-ir.clean"]
    return natural(dict.fromkeys(tables)) if tables else _raw_topics(folder)


def _raw_topics(folder: Path) -> list[str]:
    raw = a_file(folder, _RAW)
    if raw is None:
        return []
    rows = read_sheet(raw, _RAW_COLUMNS).rows
    return natural({row["topic"].strip() for _, row in rows if row["topic"].strip()})


def load(folder: Path, part: str | None, texts: Path | None) -> Corpus:
    """Load the topics; where a topic has a table with texts, that is read and the first release is not."""
    draft = Draft(CARD, folder)
    topics = choose(parts(folder), part, folder)
    raw = a_file(folder, _RAW)
    hosted = {stem(path): path for path in tables_in(folder) if path != raw}
    for topic in topics:
        if topic in hosted:
            _read_hosted(draft, draft.sheet(hosted[topic], need=("pubmedID", "title", "abstract", "label_included")), topic)
        criteria = folder / "criteria" / f"{topic}.json"
        draft.review(topic, read_framework(criteria, topic))
        if by_machine(criteria):
            draft.notes.append(
                f"{topic}: the criteria were drawn from the report's methods by models, not written by the reviewers"
            )
    if raw is not None and not hosted:
        sheet = read_sheet(raw, _RAW_COLUMNS)
        _read_raw(draft, draft.counted(sheet.only("topic", topics) if part else sheet), Texts(texts))
    return draft.finish()


def _read_hosted(draft: Draft, sheet: Sheet, topic: str) -> None:
    for number, row in sheet.rows:
        record = _record(row, topic, number)
        if record is None:
            draft.aside(sheet, number, f"has no PMID ('{row['pubmedID'][:30]}')")
        else:
            draft.record(sheet, number, record, topic)
            for stage in STAGES:
                decision = draft.read_label(record.record_id, stage, row.get(_COLUMNS[stage]), BINARY)
                if decision:
                    draft.label(GoldLabel(record.record_id, stage, decision))


def _record(row: Row, topic: str, number: int) -> Record | None:
    pmid = read_digits(row["pubmedID"])
    if pmid is None:
        return None
    authors = (row.get("authors") or "").split(";")
    fields = {"title": row["title"], "abstract": row["abstract"], "year": row.get("year"), "pmid": pmid}
    return build(f"{topic}:{pmid}", fields, authors, number - 1, {key: cell for key, cell in row.items() if cell})


def _read_raw(draft: Draft, sheet: Sheet, texts: Texts) -> None:
    for number, row in sheet.rows:
        topic, pmid = row["topic"].strip(), read_digits(row["pmid"])
        if not topic or pmid is None:
            draft.aside(sheet, number, f"has no {'PMID' if topic else 'topic'} ('{row['pmid'][:30]}')")
        else:
            record = texts.record(f"{topic}:{pmid}", {"pmid": pmid}, number, row)
            draft.record(sheet, number, record, topic)
            for stage, column in (("title_abstract", "abstract"), ("full_text", "article")):
                _raw_label(draft, record.record_id, stage, row[column])  # type: ignore[arg-type]  # both are stages
    texts.note(draft)


def _raw_label(draft: Draft, record_id: str, stage: Stage, cell: str) -> None:
    decision = draft.read_label(record_id, stage, cell, _RAW_FORMS)
    if decision:
        draft.label(GoldLabel(record_id, stage, decision, _REASONS.get(cell.strip())))


SETS.register("cohen2006")(BenchmarkSet(CARD, parts, load, needs_texts=True))
