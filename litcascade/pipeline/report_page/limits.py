"""Limitations, each sentence only where the data say so, with the figure."""

import json
from collections.abc import Iterator

from litcascade.pipeline.kit import leakage_tables
from litcascade.pipeline.review import Review
from litcascade.pipeline.scoring import Scores, StageScore
from litcascade.report.page import Block, Points, absent
from litcascade.schemas import SCREENING
from litcascade.schemas.document import STEERING, FlagKind
from litcascade.store import Store

FEW = 100  # gold includes: with fewer, an interval of recall is wide whatever the recall
SMALL = 4.0  # billions of parameters
_STEER = [kind.value for kind in (*STEERING, FlagKind.MENTION)]


def limit_blocks(review: Review, store: Store, scores: Scores) -> list[Block]:
    """The sentences as a list."""
    found = limitations(review, store, scores)
    return [Points(found)] if found else [absent("None of the limitations that the program looks for holds in these data.")]


def limitations(review: Review, store: Store, scores: Scores) -> list[str]:
    """All that hold, in the order a reader would ask for them."""
    return [
        *_without_gold(review, scores), *(words for score in scores.stages for words in _of_scores(score)),
        *_waiting(review, store), *_leakage(review, store, scores), *_models(review), *_readers(store), *_texts(store),
        *_records(store), *_seen(review, store),
    ]  # fmt: skip


def _without_gold(review: Review, scores: Scores) -> Iterator[str]:
    scored = {score.stage for score in scores.stages}
    missing = [name for name, _ in review.protocol.stages.items() if name in SCREENING and name not in scored]
    if missing:
        yield f"At {' and '.join(missing)} no record has a gold label: recall and what is lost there are not known."


def _of_scores(score: StageScore) -> Iterator[str]:
    c, stage = score.confusion, score.stage
    if c.positives < FEW:
        yield (
            f"At {stage} the figures rest on {int(c.positives)} gold include(s) among {c.n} labelled records; "
            "their intervals are wide."
        )
    if score.population > c.n:
        yield (
            f"At {stage} {c.n} of {score.population} judged records are labelled; the intervals take them for a random sample, "
            "and the program cannot know whether they were drawn at random."
        )
    if score.referred:
        yield f"At {stage} the models referred {score.referred} of {c.n} labelled records to people; these count as found."
    for why, count in sorted(score.left_out.items()):
        yield f"At {stage} {count} record(s) are not scored: {why}."
    for estimate in score.metrics:
        careful = estimate.note and (estimate.value is None or "too short" in estimate.note)
        if estimate.metric.startswith(("recall", "wmcc")) and careful:
            yield f"At {stage}, {estimate.metric}: {estimate.note}."
    if score.deployment.chosen is None:
        yield f"At {stage} no process clears the deployment rule: {score.deployment.note}."


def _waiting(review: Review, store: Store) -> Iterator[str]:
    for stage, _ in review.protocol.stages.items():
        counts = dict(store.rows(f"select state, count(*) from {stage} group by 1"))
        total = sum(counts.values()) - counts.get("duplicate", 0)
        for state, words in (
            ("referred", "wait for a person's decision"),
            ("pending", "have no verdict yet"),
            ("not retrieved", "have no full text"),
        ):
            if counts.get(state):
                share = f"{counts[state]} of {total} records ({counts[state] / total:.1%})"
                yield f"At {stage} {share} {words}; the result may change with them."


def _leakage(review: Review, store: Store, scores: Scores) -> Iterator[str]:
    unknown = sorted(name for name in _asked(review) if review.protocol.models[name].cutoff is None)
    if unknown:
        yield (
            f"Leakage is not checked for {', '.join(unknown)}: no training cut-off is declared, and the model may have "
            "seen these records, or the review itself, in training."
        )
    for table in leakage_tables(review, store, scores):
        early = sum(row[2] or 0 for row in table.rows if str(row[1]).startswith("published up to"))
        if early:
            told = f"{early} labelled record(s) were published up to a model's training cut-off"
            yield f"{table.title}: {told} and may have been seen."


def _asked(review: Review) -> set[str]:
    """The models that the stages ask."""
    names = {reader for _, spec in review.protocol.stages.items() for reader in spec.readers}
    return {model for name in names if (model := review.protocol.readers[name].model)}


def _models(review: Review) -> Iterator[str]:
    for name in sorted(_asked(review)):
        model = review.protocol.models[name]
        if model.backend == "embedded":
            told = f"{name} ({model.model}) is a small model of the embedded engine, for trying the program out"
            yield f"{told}; a larger one may judge otherwise."
        elif model.size is not None and model.size < SMALL:
            yield f"{name} has {model.size:g} billion parameters; larger models are known to screen better."
        if model.backend == "http" and not model.revision:
            yield f"{name} is run by a server and its revision is not declared: the same name may later be another model."


def _readers(store: Store) -> Iterator[str]:
    rows = store.rows(
        "select stage, reader, count(*) filter (not orderly), count(*) from readings "
        "join current_stages using (stage, fingerprint) "
        "where len(calls) > 0 group by 1, 2 having count(*) filter (not orderly) > 0 order by 1, 2"
    )
    for stage, reader, odd, total in rows:
        rate = f"reliability {1 - odd / total:.3f}"
        yield f"At {stage} {odd} of {total} first replies of {reader} were not in the form asked for ({rate})."
    failed = int(store.value("select count(*) from failures"))
    if failed:
        yield f"{failed} request(s) got no reply after their retries."


def _texts(store: Store) -> Iterator[str]:
    states = dict(store.rows("select state, count(*) from current_documents where state <> 'parsed' group by 1 order by 1"))
    if states:
        told = ", ".join(f"{count} {state}" for state, count in states.items())
        yield f"Not every full text is whole: {told}."
    flags: dict[str, int] = {}
    for (content,) in store.rows("select content->>'flags' from current_documents where json_array_length(content->'flags') > 0"):
        for kind in {flag["kind"] for flag in json.loads(content)}:
            flags[kind] = flags.get(kind, 0) + 1
    damaged = {kind: count for kind, count in flags.items() if kind not in _STEER}
    if damaged:
        yield f"Full texts with damage that may hide evidence: {_told(damaged)}."
    steering = {kind: count for kind, count in flags.items() if kind in _STEER}
    if steering:
        yield f"Full texts with words that may steer a model: {_told(steering)}."


def _told(counts: dict[str, int]) -> str:
    return ", ".join(f"{kind} {count}" for kind, count in sorted(counts.items()))


def _records(store: Store) -> Iterator[str]:
    missing, cut, total = store.rows(
        "select count(*) filter (abstract_status = 'missing'), count(*) filter (abstract_status = 'truncated'), count(*) "
        "from records"
    )[0]
    if missing or cut:
        yield f"Of {total} records {missing} have no abstract and {cut} an abstract that is cut; models may not exclude these."
    if not store.value("select count(*) from clusters"):
        yield "Records were not de-duplicated: a report that stands twice is counted twice."
    unsure = int(store.value("select count(*) from current_pairs where verdict = 'unsure'"))
    if unsure:
        yield f"{unsure} pair(s) of records may be duplicates, and nobody has decided on them."


def _seen(review: Review, store: Store) -> Iterator[str]:
    for stage, _ in review.protocol.stages.items():
        part, least = store.rows(f"select count(*), min(seen) from {stage} where seen < 1")[0]
        if part:
            yield f"At {stage} {part} report(s) were not read whole by every reader; the least read one to {least:.0%}."
