"""A benchmark set into a review: protocol, records, labels, full texts and gold values, under the set's own ids."""

import json
from collections import defaultdict
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from litcascade.corpora.sets import BenchmarkSet, Corpus, GoldField
from litcascade.corpora.sets import Review as SetReview
from litcascade.errors import InputError
from litcascade.pipeline.importing import record_row
from litcascade.pipeline.review import PROTOCOL_NAME, open_review
from litcascade.pipeline.texts import insert_documents
from litcascade.registry import nearest
from litcascade.schemas import parse_protocol
from litcascade.store import FILE_NAME, Store, now

_BATCH = 5_000
_READERS = """
[models.small]
backend = "embedded"
model = "qwen2.5-coder-1.5b"
context = 8192
"""
_ABSTRACTS = """
[readers.abstracts]
model = "small"
prompt = "inclusion_exclusion"
style = "constrained"
[stages.title_abstract]
readers = ["abstracts"]
"""
_REPORTS = """
[readers.reports]
model = "small"
prompt = "chain_of_thought"
style = "free"
labels = ["include", "exclude"]
[readers.refiner]
model = "small"
[stages.full_text]
readers = ["reports"]
refiner = "refiner"
"""


@dataclass(frozen=True)
class Loaded:
    """What came into the review."""

    review: str
    records: int
    labels: int
    documents: int
    values: int
    set_aside: int
    notes: tuple[str, ...]


def load_corpus(corpus: Corpus, folder: Path) -> Loaded:
    """Make a review of a set that holds one review; a folder that holds a review already is an `InputError`."""
    if len(corpus.reviews) > 1:
        names = ", ".join(review.name for review in corpus.reviews[:12]) + (", …" if len(corpus.reviews) > 12 else "")
        raise InputError(f"the set '{corpus.name}' holds {len(corpus.reviews)} reviews; name one with --part: {names}")
    if (folder / PROTOCOL_NAME).exists() or (folder / FILE_NAME).exists():
        raise InputError(f"{folder}: holds a review already; name another folder with --review")
    text = protocol_text(corpus)
    parse_protocol(text, f"protocol of the set '{corpus.name}'")
    folder.mkdir(parents=True, exist_ok=True)
    with Store(folder / FILE_NAME, create=True) as store, store.transaction():
        _insert(store, corpus)
        insert_documents(store, [(document, "by the benchmark set") for document in corpus.documents])
    (folder / PROTOCOL_NAME).write_text(text, encoding="utf-8")
    open_review(folder).open().close()
    return Loaded(
        str(folder), len(corpus.records), len(corpus.labels), len(corpus.documents), len(corpus.fields), len(corpus.set_aside),
        corpus.notes,
    )  # fmt: skip


def read_set(benchmark: BenchmarkSet, folder: Path, part: str | None, texts: Path | None = None) -> Corpus:
    """A set from its folder: all of it, one of its parts, or one review of it by name."""
    if part is None or part in benchmark.parts(folder):
        return benchmark.load(folder, part, texts)
    whole = benchmark.load(folder, None, texts)
    names = [review.name for review in whole.reviews]
    if part not in names:
        known = dict.fromkeys([*benchmark.parts(folder), *names])
        raise InputError(f"{folder}: the set '{whole.name}' has no part and no review '{part}'{nearest(part, known)}")
    return _one_review(whole, part)


def _one_review(corpus: Corpus, name: str) -> Corpus:
    ids = {record_id for record_id, review in corpus.review_of.items() if review == name}
    return replace(
        corpus,
        records=tuple(record for record in corpus.records if record.record_id in ids),
        labels=tuple(label for label in corpus.labels if label.record_id in ids),
        documents=tuple(document for document in corpus.documents if document.record_id in ids),
        fields=tuple(value for value in corpus.fields if value.record_id in ids),
        reviews=tuple(review for review in corpus.reviews if review.name == name),
        review_of=dict.fromkeys(ids, name),
        splits={split: kept for split, names in corpus.splits.items() if (kept := tuple(i for i in names if i in ids))},
        duplicates=tuple(pair for pair in corpus.duplicates if pair[0] in ids),
    )


def _insert(store: Store, corpus: Corpus) -> None:
    import_id = f"corpus-{corpus.name}"
    sums = {table.file: table.sha256 for table in corpus.tables}
    kept = {"set": corpus.name, "tables": [asdict(table) for table in corpus.tables], "notes": list(corpus.notes)}
    row = {"import_id": import_id, "at_time": now(), "path": corpus.name, "sha256": json.dumps(sums), "receipt": json.dumps(kept)}
    store.append("imports", [{**row, "format": "benchmark set", "encoding": ""}])
    for start in range(0, len(corpus.records), _BATCH):
        store.append("records", [record_row(record, import_id) for record in corpus.records[start : start + _BATCH]])
    aside = [
        {"import_id": import_id, "line": item.row, "reason": f"{item.file}: {item.reason}", "raw": "", "is_record": True}
        for item in corpus.set_aside
    ]
    store.append("set_aside", aside)
    labels = [
        {
            "record_id": label.record_id, "stage": label.stage, "decision": label.decision, "reason": label.reason,
            "at_time": now(), "source": f"{corpus.name} ({label.source})",
        }
        for label in sorted(corpus.labels, key=lambda label: label.source == "gold")  # of two labels, the person's is newest
    ]  # fmt: skip
    store.append("gold", labels)
    store.append("gold_fields", _values(corpus))


def _values(corpus: Corpus) -> list[dict[str, object]]:
    """One row a record and field; what is told several times (by item, by annotator) is a list of what each says."""
    found: dict[tuple[str, str], list[GoldField]] = defaultdict(list)
    for value in corpus.fields:
        found[value.record_id, value.field].append(value)
    rows: list[dict[str, object]] = []
    for (record_id, name), values in found.items():
        single = values[0].value if len(values) == 1 and values[0].item is None else None
        several = [{"item": v.item, "value": v.value, "annotator": v.annotator, "quote": v.quote} for v in values]
        kept = single if len(values) == 1 and values[0].item is None else several
        rows.append({"record_id": record_id, "field": name, "value": json.dumps(kept), "at_time": now(), "source": corpus.name})
    return rows


def protocol_text(corpus: Corpus) -> str:
    """A protocol with the set's question and criteria, and a small reader for each stage that has labels or texts."""
    review = corpus.reviews[0] if corpus.reviews else SetReview(corpus.name)
    stages = corpus.stages()
    parts = [
        f"# Made by `litcascade corpus load {corpus.name}`. Source: {corpus.card.source}",
        "[review]",
        f"title = {_quoted(review.title or review.name)}",
        f"question = {_quoted(review.question or review.title or review.name)}",
        *_criteria(review),
        _READERS,
    ]
    if "title_abstract" in stages or not corpus.documents:
        parts.append(_ABSTRACTS)
    if corpus.documents and ("full_text" in stages or "title_abstract" not in stages):
        parts.append(_REPORTS)
    return "\n".join(parts)


def _criteria(review: SetReview) -> list[str]:
    """The set's criteria, a paragraph each; lines of a paragraph that say to include or exclude are criteria of their own."""
    text = review.criteria or review.question or review.title or "Relevant to the review."
    numbers = {"include": 0, "exclude": 0}
    lines: list[str] = []
    for paragraph in text.replace("\r", "").split("\n\n"):
        for kind, words in _parted(paragraph):
            numbers[kind] += 1
            name = f"{kind[0].upper()}{numbers[kind]}"
            lines += ["[[criteria]]", f'id = "{name}"', f'kind = "{kind}"', f"text = {_quoted(words)}"]
    return lines


def _parted(paragraph: str) -> list[tuple[str, str]]:
    """(Kind, text) of each criterion in a paragraph; its first line is what it is about where the next ones say the kind."""
    own = [line.strip() for line in paragraph.split("\n") if line.strip()]
    heads = ("include:", "exclude:")
    if len(own) > 1 and not own[0].casefold().startswith(heads) and all(line.casefold().startswith(heads) for line in own[1:]):
        return [(line[:7].casefold(), f"{own[0]}: {line[8:].strip()}") for line in own[1:]]
    whole = " ".join(own)
    return [("exclude" if whole.casefold().startswith(("exclu", "not ")) else "include", whole)] if whole else []


def _quoted(text: str) -> str:
    """A TOML string."""
    return json.dumps(" ".join(text.split()), ensure_ascii=False).replace("\x7f", "")
