"""What a loaded set looks like: sizes, labels, years, lengths, and what is missing."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import quantiles

from litcascade.corpora.sets.corpus import Corpus
from litcascade.eval.estimate import Estimate, ratio
from litcascade.schemas import DocumentState


@dataclass(frozen=True)
class Quartiles:
    """Five numbers of `known` values; None where there is none. `unknown` values are counted, not imputed.

    Quartiles are by linear interpolation between order statistics (Hyndman and Fan 1996, type 7).
    """

    known: int
    unknown: int
    low: float | None
    first: float | None
    median: float | None
    third: float | None
    high: float | None


@dataclass(frozen=True)
class StageCounts:
    """Labels of one stage: counts, records without one, and the share of includes among the labelled."""

    stage: str
    source: str
    included: int
    excluded: int
    unlabelled: int
    prevalence: Estimate
    reasons: Mapping[str, int]


@dataclass(frozen=True)
class Statistics:
    """All of it. Lengths are in words (runs without blanks); `missing` maps a part to how many records lack it."""

    records: int
    reviews: Mapping[str, int]
    stages: tuple[StageCounts, ...]
    years: Quartiles
    title_words: Quartiles
    abstract_words: Quartiles
    text_words: Quartiles
    missing: Mapping[str, int]
    documents: Mapping[str, int]
    fields: Mapping[str, int]
    splits: Mapping[str, int]
    set_aside: int


def statistics(corpus: Corpus) -> Statistics:
    """The figures of a corpus; an empty corpus gives counts of 0 and undefined shares, with the reason."""
    records = corpus.records
    texts = {d.record_id: len(d.text().split()) for d in corpus.documents if d.state is DocumentState.PARSED}
    lacking = {
        name: sum(getattr(record, name) is None for record in records) for name in ("title", "abstract", "year", "doi", "pmid")
    }
    return Statistics(
        records=len(records),
        reviews=_counted(corpus.review_of[record.record_id] for record in records if record.record_id in corpus.review_of),
        stages=tuple(_stage(corpus, stage, source) for stage, source in _levels(corpus)),
        years=quartiles(record.year for record in records),
        title_words=quartiles(_words(record.title) for record in records),
        abstract_words=quartiles(_words(record.abstract) for record in records),
        text_words=quartiles(texts.get(record.record_id) for record in records),
        missing={**lacking, "full text": sum(record.record_id not in texts for record in records)},
        documents=_counted(document.state.value for document in corpus.documents),
        fields=_counted(field.field for field in corpus.fields if field.value is not None),
        splits={name: len(ids) for name, ids in corpus.splits.items()},
        set_aside=len(corpus.set_aside),
    )


def quartiles(values: Iterable[float | None]) -> Quartiles:
    """The five numbers of the values that are known."""
    every = list(values)
    known = sorted(value for value in every if value is not None)
    if not known:
        return Quartiles(0, len(every), None, None, None, None, None)
    first, median, third = quantiles(known, n=4, method="inclusive") if len(known) > 1 else [known[0]] * 3
    return Quartiles(len(known), len(every) - len(known), known[0], first, median, third, known[-1])


def _levels(corpus: Corpus) -> list[tuple[str, str]]:
    return sorted(
        {(label.stage, label.source) for label in corpus.labels}, key=lambda level: (level[0] != "title_abstract", level[1])
    )


def _stage(corpus: Corpus, stage: str, source: str) -> StageCounts:
    labels = [label for label in corpus.labels if (label.stage, label.source) == (stage, source)]
    included = sum(label.decision == "include" for label in labels)
    labelled = {label.record_id for label in labels}
    return StageCounts(
        stage=stage,
        source=source,
        included=included,
        excluded=len(labels) - included,
        unlabelled=sum(record.record_id not in labelled for record in corpus.records),
        prevalence=ratio("prevalence", included, len(labels), "no record has a label at this stage", len(labels)),
        reasons=_counted(label.reason for label in labels if label.reason),
    )


def _counted(names: Iterable[str]) -> dict[str, int]:
    """Counts, the largest first, ties by name."""
    found: dict[str, int] = {}
    for name in names:
        found[name] = found.get(name, 0) + 1
    return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))


def _words(text: str | None) -> int | None:
    return None if text is None else len(text.split())
