"""Readers and stages bound to real models, and the fingerprint of what a stage's verdicts rest on."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from litcascade.backends import BACKENDS, Backend
from litcascade.pipeline.examples import examples_for
from litcascade.pipeline.review import TOKENS, Review
from litcascade.schemas import ModelRef, Protocol, Reader, Shot, StageSpec, digest
from litcascade.stages import STAGE_CLASSES, Stage
from litcascade.stages.prompt import load
from litcascade.store import Store

UNREAD = {"referred", "gate", "people"}
Examples = Callable[[str, str], tuple[Shot, ...]]


@dataclass(frozen=True)
class Bound:
    """A stage ready to run, with the fingerprint its verdicts carry."""

    stage: Stage
    spec: StageSpec
    position: int
    fingerprint: str
    criteria_hash: str


def make_backends(review: Review) -> dict[str, Backend]:
    """A backend for every model that a stage of the protocol uses, not started yet."""
    protocol = review.protocol
    used: dict[str, None] = {}
    for _, spec in protocol.stages.items():
        for name in names_of(spec):
            model = protocol.readers[name].model
            if model:
                used.setdefault(model)
    return {name: make_backend(review, name) for name in used}


def names_of(spec: StageSpec) -> list[str]:
    """The stage's readers, its refiner, and the reader with the longer window, each once."""
    return list(dict.fromkeys([*spec.readers, *(name for name in (spec.refiner, spec.longer) if name)]))


def at_once(protocol: Protocol, spec: StageSpec) -> int:
    """How many requests may be in flight at a stage, over all its models."""
    models = {protocol.readers[name].model for name in names_of(spec)}
    return sum(protocol.models[name].concurrency for name in models if name)


def make_backend(review: Review, model: str) -> Backend:
    """The backend of one declared model, not started yet."""
    declared = review.protocol.models[model]
    return BACKENDS.get(declared.backend)(model, declared, review.folder)


async def identify(protocol: Protocol, backends: Mapping[str, Backend]) -> dict[str, ModelRef]:
    """Each model with its revision and engine, as the engines tell them."""
    models = {}
    for name, backend in backends.items():
        declared = protocol.models[name]
        engine = await backend.engine()
        revision = declared.revision.removeprefix("sha256:") or await backend.revision()
        if declared.backend != "http":
            revision = await backend.revision()
        models[name] = ModelRef(name=_model_name(declared.model, backend), revision=revision, engine=engine)
    return models


def _model_name(declared: str, backend: Backend) -> str:
    recorded = getattr(backend, "model", None)
    return declared or str(recorded[0] if recorded else "")


def bind(review: Review, models: Mapping[str, ModelRef], store: Store) -> list[Bound]:
    """The protocol's stages in order, each fingerprint covering the one upstream."""
    return bind_with(review, models, lambda stage, name: stored_examples(review, stage, name, store))


def bind_with(review: Review, models: Mapping[str, ModelRef], examples: Examples) -> list[Bound]:
    """As `bind`, with the worked examples of a stage's reader given by a function of both names."""
    bound: list[Bound] = []
    upstream = ""
    for position, (name, spec) in enumerate(review.protocol.stages.items()):
        readers = {reader: _reader(review, name, reader, models, examples) for reader in names_of(spec)}
        stage = STAGE_CLASSES.get(name)(review.protocol, spec, readers)
        criteria = review.protocol.criteria_hash(name)
        upstream = fingerprint(stage, spec, criteria, upstream)
        bound.append(Bound(stage, spec, position, upstream, criteria))
    return bound


def bind_reader(review: Review, stage: str, name: str, models: Mapping[str, ModelRef], store: Store) -> Reader:
    """A reader of the protocol with its model, prompt text and worked examples."""
    return _reader(review, stage, name, models, lambda *_: stored_examples(review, stage, name, store))


def stored_examples(review: Review, stage: str, name: str, store: Store) -> tuple[Shot, ...]:
    """The worked examples that a reader is shown at a stage, out of the store."""
    spec = review.protocol.readers[name]
    return examples_for(store, stage, name, spec.shots, with_rationales=spec.rationales)


def _reader(review: Review, stage: str, name: str, models: Mapping[str, ModelRef], examples: Examples) -> Reader:
    spec = review.protocol.readers[name]
    if spec.person:
        return Reader(name=name, model=None)
    return Reader(
        name=name,
        model=models[str(spec.model)],
        via=str(spec.model),
        style=spec.style,
        prompt=review.prompts.get((stage, name)),
        include_label=spec.labels[0],
        exclude_label=spec.labels[1],
        shots=examples(stage, name),
        temperature=spec.temperature,
        seed=spec.seed,
        max_tokens=spec.max_tokens or TOKENS[spec.style],
        context=review.protocol.models[str(spec.model)].context,
    )


def fingerprint(stage: Stage, spec: StageSpec, criteria_hash: str, upstream: str) -> str:
    """What a verdict of this stage rests on, as 32 hexadecimal digits.

    Covers the step's version, question, criteria and notes, the policy, every reader with prompt, examples,
    parameters, model, revision and engine, and the upstream fingerprint. Not the budget, not the program's release. A key
    that a release adds counts only where it is set, so that the release alone changes no fingerprint.
    """
    unset = {"rule"} if spec.rule is None else set()
    unset |= {"positives"} if spec.positives == "pass" else set()
    unset |= set() if stage.needs_text else {"logic", "long", "longer"}
    unset |= set() if stage.name == "extraction" else {"calls", "passes"}
    refine = load("full_text", "refine").model_dump() if stage.name == "full_text" and spec.refiner else None
    return digest(
        [
            stage.name,
            stage.version,
            criteria_hash,
            spec.model_dump(mode="json", exclude=UNREAD | unset),
            {name: _reader_dump(reader, stage.needs_text) for name, reader in stage.readers.items()},
            refine,
            upstream,
        ]
    )


def _reader_dump(reader: Reader, reads_reports: bool) -> dict[str, object]:
    """A reader as its verdicts rest on it: the window matters only where it decides how a report is shown."""
    dumped = reader.model_dump(mode="json", exclude={"via"} if reads_reports else {"via", "context"})
    dumped["shots"] = [
        {key: value for key, value in shot.items() if value is not None or key not in ("quote", "reasoning")}
        for shot in dumped["shots"]
    ]
    return dumped
