"""A methods paragraph ready to paste, from the protocol and the store; what only people know is left open in brackets."""

import json
from collections.abc import Iterator

from litcascade.pipeline.report_page.repeat import without_secrets
from litcascade.pipeline.review import Review
from litcascade.pipeline.scoring import Scores
from litcascade.report.flow import Flow
from litcascade.schemas import SCREENING, StageSpec
from litcascade.store import Store

_NAMES = {"title_abstract": "Titles and abstracts", "full_text": "Full texts", "extraction": "Data"}


def methods_paragraph(review: Review, store: Store, scores: Scores, flow: Flow) -> str:
    """Plain sentences; numbers are those of the ledger and of the scores."""
    return " ".join([
        *_found(review, store, flow),
        *(words for name, spec in review.protocol.stages.items() for words in _stage(review, store, name, spec)),
        *_shown(review, scores), *_program(store),
    ])  # fmt: skip


def _found(review: Review, store: Store, flow: Flow) -> Iterator[str]:
    searches = "; ".join(f"{one.source} ({one.date})" for one in review.protocol.search)
    first = flow.steps[0]
    where = f"We searched {searches}" if searches else "We searched [sources and dates]"
    yield f"{where} and identified {first.box.count:,} records, of which {first.out[0].count:,} were removed as duplicates."
    criteria = review.protocol.criteria
    kinds = [sum(c.kind == kind for c in criteria) for kind in ("include", "exclude")]
    yield f"Eligibility was stated in {kinds[0]} inclusion and {kinds[1]} exclusion criteria."
    amended = int(store.value("select count(*) from amendments"))
    if amended:
        yield f"The criteria were amended {amended} time(s) after screening had begun."


def _stage(review: Review, store: Store, name: str, spec: StageSpec) -> Iterator[str]:
    told = [_reader(review, store, name, reader) for reader in spec.readers]
    verb = "extracted" if name == "extraction" else "screened"
    yield f"{_NAMES[name]} were {verb} by {' and '.join(told)}{_policy(name, spec)}."
    if name in SCREENING:
        entered, excluded, people, waiting, passed = store.rows(
            "select count(*) filter (state <> 'duplicate'), count(*) filter (state = 'excluded'), "
            "count(*) filter (decided_by <> 'model'), count(*) filter (state = 'referred'), count(*) filter (state = 'included') "
            f"from {name}"
        )[0]
        yield (
            f"Of {entered:,} records at this stage {excluded:,} were excluded and {passed:,} included; people decided "
            f"on {people:,} of them, and {waiting:,} wait for a decision. "
            "A record that could not be read or decided went to a person."
        )


def _reader(review: Review, store: Store, stage: str, name: str) -> str:
    reader = review.protocol.readers[name]
    if reader.person:
        return f"a person ({name})"
    declared = review.protocol.models[str(reader.model)]
    ran = store.value("select models from runs order by seq desc limit 1")
    model = json.loads(ran).get(str(reader.model), {}) if ran else {}
    shown = model.get("name") or declared.model or str(reader.model)
    revision = model.get("revision") or declared.revision or "[revision]"
    engine = without_secrets(str(model.get("engine") or declared.backend))
    shots = f", {len(reader.shots)} worked examples" if reader.shots else ""
    seed = f", seed {reader.seed}" if reader.seed is not None else ""
    prompt = review.prompts[(stage, name)].name
    return f"{shown} (revision {revision}, {engine}; prompt '{prompt}'{shots}, temperature {reader.temperature:g}{seed})"


def _policy(name: str, spec: StageSpec) -> str:
    if name == "extraction":
        return ", each value with a quote that was checked against the text"
    if spec.policy == "threshold":
        band = f"; scores from {spec.unsure[0]:g} to {spec.unsure[1]:g} went to people" if spec.unsure else ""
        return f", including where the mean p(include) reached {spec.threshold:g}{band}"
    if spec.policy == "rule":
        return ", under a panel rule that was chosen on labelled records and frozen"
    return f", including where at least {spec.votes} of {len(spec.readers)} reader(s) included" if len(spec.readers) > 1 else ""


def _shown(review: Review, scores: Scores) -> Iterator[str]:
    weight = review.protocol.operating_point.weight
    for score in scores.stages:
        found = {e.metric: e for e in score.metrics}
        told = []
        for metric, words in (("recall", "recall"), (f"wmcc@{weight:g}", f"WMCC (w = {weight:g})")):
            e = found[metric]
            bounds = f" (95 % interval {e.low:.3f} to {e.high:.3f})" if e.low is not None and e.high is not None else ""
            told.append(f"{words} {e.value:.3f}{bounds}" if e.value is not None else f"{words} undefined ({e.note})")
        yield f"Against {score.confusion.n:,} gold labels at {score.stage} the models reached {' and '.join(told)}."


def _program(store: Store) -> Iterator[str]:
    code = store.value("select code_version from runs order by seq desc limit 1")
    yield f"The review was run with {code}." if code else "Nothing was run yet."
