"""CLEF TAR (2017, 2018, 2019): TREC qrels at two levels, topics and protocols; texts from a table or a local copy."""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from lxml import etree

from litcascade.corpora.encoding import decode
from litcascade.corpora.sets.corpus import SETS, STAGES, BenchmarkSet, Card, CardFile, Corpus, GoldLabel, Published, Review, Stage
from litcascade.corpora.sets.draft import BINARY, Draft, choose, examples
from litcascade.corpora.sets.tables import Row, Sheet, natural, read_bytes, read_sheet, tables_in
from litcascade.corpora.sets.texts import Texts, keys_of
from litcascade.corpora.texts.xml import flat
from litcascade.schemas import Decision

CARD = Card(
    name="clef_tar",
    title="CLEF eHealth Technology Assisted Reviews in Empirical Medicine, 2017 to 2019",
    source="https://github.com/CLEF-TAR/tar",
    licence="labels, topics and protocols MIT; MEDLINE texts belong to their publishers",
    labels={
        "title_abstract": "abs qrels: 1 relevant on title and abstract, 0 not",
        "full_text": "content (or doc) qrels: 1 relevant after reading the article, 0 not, also where it was never read",
    },
    files=(
        CardFile("CD008874.abs.qrels", "3fc172069315341f77bf932d51da1a32e92efe9391bc4b7ce97f7142dcfc4d81"),
        CardFile("CD008874.content.qrels", "4db7992fb669c34f233c178cfcd8fbdaaf50df9e6387068aad4ad7f0943e214e"),
        CardFile("CD008874_labelled.csv", "3d5d8d35071b98dc236168c33e768c423b31f2905d4c61b448e4264590812647"),
        CardFile("topic_CD008874.txt", "c1a1fd0a90714319e4578b9b58b7b9180e9dee7d6ea1d4a1102d88cb4e5915a1"),
        CardFile("protocol_CD008874.xml", "0eff0d36b3927cf56fab397454663e5ea63e8e1f85b9e5600a04d5aca99a284c"),
    ),
    published=(Published("CD008874", 2382, 118, 110),),
    notes=(
        "Point it at one release and task, such as 2019-TAR/Task2/Testing/DTA: the same topic stands under several.",
        "The level is told from the file's name (abs; content or doc). A graded file (values above 1) holds both: 1 and 3 are "
        "relevant on the abstract, 2 and 4 also after reading (3 and 4: not found by the query), -1 is unjudged.",
        "Record ids are topic:PMID. A record of a topic is a PMID of the topic file or of the qrels.",
        "Tables with a column pmid and a title are read as texts; labels in them are compared, the qrels hold.",
    ),
)
_TOPIC = re.compile(r"CD\d{6}")
_HEAD = re.compile(r"^(Topic|Title|Query|Objective|Pids):[ \t]*(.*)$", re.MULTILINE)
_GRADES: dict[str, tuple[Decision, Decision]] = {
    "0": ("exclude", "exclude"), "1": ("include", "exclude"), "2": ("include", "include"),
    "3": ("include", "exclude"), "4": ("include", "include"),
}  # fmt: skip


@dataclass
class _Folder:
    """What a folder holds, told by names and content."""

    qrels: list[Sheet] = field(default_factory=list)
    topics: dict[str, dict[str, str]] = field(default_factory=dict)
    protocols: dict[str, str] = field(default_factory=dict)
    tables: list[Path] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)
    sums: dict[str, str] = field(default_factory=dict)


def parts(folder: Path) -> list[str]:
    """The topics that the qrels judge."""
    return _topics(_survey(folder))


def _topics(found: _Folder) -> list[str]:
    return natural({row["topic"] for sheet in found.qrels for _, row in sheet.rows})


def load(folder: Path, part: str | None, texts: Path | None) -> Corpus:
    """Load the topics; a qrels file whose level cannot be told is named in the notes and not used."""
    draft = Draft(CARD, folder)
    found = _survey(folder)
    topics = choose(_topics(found), part, folder)
    records: dict[tuple[str, str], None] = {}
    for topic in topics:
        for pmid in re.findall(r"\d+", found.topics.get(topic, {}).get("Pids", "")):
            records[topic, pmid.lstrip("0")] = None
    listed = set(records)
    for sheet in found.qrels:
        _read_qrels(draft, sheet.only("topic", topics), records)
    sources = [Texts(texts), *(Texts(path) for path in found.tables)]
    _add_records(draft, list(records), sources)
    for path in found.tables:
        _compare(draft, read_sheet(path), set(topics))
    for name, digest in found.sums.items():
        draft.saw(name, digest)
    for topic in topics:
        draft.review(topic, _review(topic, found))
    _note(draft, found, listed, topics)
    return draft.finish()


def _survey(folder: Path) -> _Folder:
    found = _Folder()
    for path in sorted(path for path in folder.rglob("*") if path.is_file() and not path.name.startswith((".", "README"))):
        name = path.name.lower()
        if "qrel" in name or name.endswith(".rels"):
            found.qrels.append(_qrels(path))
        elif path in tables_in(path.parent):
            found.tables.append(path)
        elif path.suffix.lower() in ("", ".txt", ".xml"):
            _read_words(path, found)
    found.tables = [path for path in found.tables if {"pmid", "title"} <= {name.casefold() for name in read_sheet(path).header}]
    return found


def _read_words(path: Path, found: _Folder) -> None:
    raw = read_bytes(path)
    text = decode(raw).text.strip()
    if text.startswith("Topic:"):
        found.sums[str(path)] = hashlib.sha256(raw).hexdigest()
        told = _fields(text)
        found.topics.setdefault(told.get("Topic", ""), told)
    elif text.startswith("<") and (topic := _TOPIC.search(path.name)):
        protocol = _protocol(text)
        if protocol is None:
            found.unread.append(path.name)
        else:
            found.sums[str(path)] = hashlib.sha256(raw).hexdigest()
            found.protocols[topic.group()] = protocol


def _fields(text: str) -> dict[str, str]:
    heads = list(_HEAD.finditer(text))
    ends = [head.start() for head in heads[1:]] + [len(text)]
    return {head[1]: f"{head[2]}\n{text[head.end() : end]}".strip() for head, end in zip(heads, ends, strict=True)}


def _protocol(text: str) -> str | None:
    """The sections of a protocol under their names; None where it is no well-formed XML."""
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False)
    try:
        root = etree.fromstring(text.encode(), parser)
    except etree.XMLSyntaxError:
        return None
    sections = [(str(node.tag), flat(node)) for node in root if isinstance(node.tag, str)]
    return "\n\n".join(f"{_heading(name)}\n{words}" for name, words in sections if words) or None


def _heading(name: str) -> str:
    """A section's name in words: `TypesofStudies` is `Types of Studies`."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name.replace("Typesof", "Types of "))


def _qrels(path: Path) -> Sheet:
    rows: list[tuple[int, Row]] = []
    torn: list[tuple[int, str]] = []
    raw = read_bytes(path)
    for number, line in enumerate(decode(raw).text.splitlines(), start=1):
        cells = line.split()
        if len(cells) == 4 and cells[2].isdigit():
            rows.append((number, {"topic": cells[0], "pmid": cells[2].lstrip("0"), "value": cells[3]}))
        elif cells:
            torn.append((number, "is no qrels line (topic, 0, PMID, relevance)"))
    columns = ("topic", "pmid", "value")
    return Sheet(str(path), columns, tuple(rows), tuple(torn), hashlib.sha256(raw).hexdigest(), frozenset(columns))


def _level(sheet: Sheet) -> Stage | None:
    name = Path(sheet.name).name.lower()
    return next((stage for words, stage in _LEVELS if re.search(words, name)), None)


_LEVELS: tuple[tuple[str, Stage], ...] = ((r"abs", "title_abstract"), (r"content|doc", "full_text"))


def _read_qrels(draft: Draft, sheet: Sheet, records: dict[tuple[str, str], None]) -> None:
    graded = any(row["value"] not in ("0", "1") for _, row in sheet.rows) and all(
        row["value"] in _GRADES or row["value"] == "-1" for _, row in sheet.rows
    )
    level = _level(sheet)
    draft.counted(sheet)
    for number, row in sheet.rows:
        if not graded and level is None:
            draft.aside(sheet, number, "the file's name says neither abs nor content: its level is not known")
            continue
        draft.used(sheet)
        records.setdefault((row["topic"], row["pmid"]))
        for label in _labels(draft, row, None if graded else level):
            draft.label(label)
    if not graded and level is None and sheet.rows:
        draft.notes.append(f"{draft.short(sheet.name)}: its level cannot be told from its name; its labels were not used")


def _labels(draft: Draft, row: Row, level: Stage | None) -> Iterator[GoldLabel]:
    record_id = f"{row['topic']}:{row['pmid']}"
    if level is not None:
        decision = draft.read_label(record_id, level, row["value"], BINARY)
        if decision:
            yield GoldLabel(record_id, level, decision)
    elif row["value"] in _GRADES:
        reason = "not found by the query" if row["value"] in ("3", "4") else None
        for stage, decision in zip(STAGES, _GRADES[row["value"]], strict=True):
            yield GoldLabel(record_id, stage, decision, reason)


def _add_records(draft: Draft, pairs: list[tuple[str, str]], sources: list[Texts]) -> None:
    for position, (topic, pmid) in enumerate(pairs, start=1):
        keys = keys_of({"pmid": pmid})
        source = next((texts for texts in sources if texts.has(keys)), sources[-1])
        record = source.record(f"{topic}:{pmid}", {"pmid": pmid}, position + 1, {"topic": topic, "pmid": pmid})
        draft.records[record.record_id] = record
        draft.review_of[record.record_id] = topic
    if any(source.path for source in sources):
        without = [record_id for record_id, record in draft.records.items() if record.title is None]
        if without:
            draft.notes.append(f"{len(without)} of {len(pairs)} record(s) found no title: {examples(without)}")
    else:
        sources[-1].note(draft)


def _compare(draft: Draft, sheet: Sheet, topics: set[str]) -> None:
    """Labels that stand in a table of texts against those of the qrels; only said, never used."""
    topic = _TOPIC.search(Path(sheet.name).name)
    rows = sheet.rows if topic and topic.group() in topics else ()
    draft.saw(sheet.name, sheet.sha256, len(sheet.rows))
    for column, stage in (("label_abstract_screening", "title_abstract"), ("label_included", "full_text")):
        if topic is None or column not in sheet.columns:
            continue
        told = {f"{topic.group()}:{row['pmid'].strip()}": BINARY.get(row[column].strip()) for _, row in rows}
        apart = draft.disagreeing(stage, told)
        if apart:
            draft.notes.append(
                f"{draft.short(sheet.name)}: {len(apart)} label(s) at {stage} differ from the qrels: {examples(apart)}"
            )


def _review(topic: str, found: _Folder) -> Review:
    told = found.topics.get(topic, {})
    text = found.protocols.get(topic)
    return Review(topic, told.get("Title"), told.get("Objective"), protocol=text, query=told.get("Query"))


def _note(draft: Draft, found: _Folder, listed: set[tuple[str, str]], topics: list[str]) -> None:
    judged = {(row["topic"], row["pmid"]) for sheet in found.qrels for _, row in sheet.rows}
    with_pids = {topic for topic, _ in listed}
    for words, pairs in (
        ("listed in the topic file but not judged", listed - judged),
        ("judged but not in the topic file", {pair for pair in judged - listed if pair[0] in with_pids}),
    ):
        if pairs:
            draft.notes.append(f"{len(pairs)} record(s) are {words}: {examples(sorted(':'.join(pair) for pair in pairs))}")
    for words, there in (("topic file", found.topics), ("protocol", found.protocols)):
        missing = [topic for topic in topics if topic not in there]
        if missing:
            draft.notes.append(f"{len(missing)} topic(s) have no {words}: {examples(missing)}")
    if found.unread:
        draft.notes.append(f"{len(found.unread)} protocol(s) are no well-formed XML: {examples(found.unread)}")


SETS.register("clef_tar")(BenchmarkSet(CARD, parts, load, needs_texts=True))
