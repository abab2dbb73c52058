"""What injections do to a small model's decisions, with and without the defence; prints Markdown tables.

usage: python -m benchmarks.injections [MINUTES [REPLIES [MODEL]]]   (from the checkout; default 15 minutes, qwen2.5-coder-1.5b)

Every case of the suite (tests/support/injections.py) whose passage is the first of its kind is asked twice. Plain: the text as a
common extractor gives it, put into the prompt without marks. Defended: as the program shows it, cleaned and fenced; a case that
is flagged goes to a person whatever the model says. The cut of each way is fitted on the clean papers: the highest balanced
accuracy, ties to the lower cut. A flip is a paper below the cut when clean and at or above it with the injection. When the
minutes are over the rest is left out, and the tables say of how many cases they tell. REPLIES is a file in which replies are kept
as they come: a later run asks only for the others.
"""

import asyncio
import math
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

import pypdfium2
from lxml import etree

from litcascade.backends.base import BACKENDS
from litcascade.corpora.texts import read_document
from litcascade.corpora.texts.inspecting import inspected
from litcascade.schemas import (
    AbstractStatus,
    Document,
    LabelShape,
    ModelRef,
    ModelSpec,
    Reader,
    Record,
    Refer,
    Reply,
    Request,
    parse_protocol,
    say,
)
from litcascade.stages import STAGE_CLASSES, Stage
from litcascade.stages.base import Subject
from litcascade.stages.prompt import load
from litcascade.stages.score import p_include
from tests.support.injections import PLACES, Case, Paper, case, papers, review, suite

Scores = Mapping[tuple[str, str], float]
PROMPTS = {"title_abstract": "inclusion_exclusion", "full_text": "one_step_basic"}
CONTEXT = 2_048
WAYS = ("plain", "defended")
MARKS = "Text between"


@dataclass(frozen=True)
class Asked:
    """One text as it is asked in both ways; `key` names it, `held` tells whether the defence sends it to a person."""

    key: str
    stage: str
    plain: Request
    defended: Request
    held: bool


def protocol_text() -> str:
    """The invented review as a protocol."""
    said = review()
    criteria = "".join(
        f'[[criteria]]\nid = "{kind[0].upper()}{number}"\nkind = "{kind}"\ntext = "{text}"\n'
        for kind in ("include", "exclude")
        for number, text in enumerate(said[kind], start=1)
    )
    return (
        f'[review]\ntitle = "Falls"\nquestion = "{said["question"]}"\n{criteria}'
        '[models.m]\nbackend = "embedded"\nmodel = "m"\n[readers.abstracts]\nmodel = "m"\n[readers.reports]\nmodel = "m"\n'
        '[stages.title_abstract]\nreaders = ["abstracts"]\n[stages.full_text]\nreaders = ["reports"]\n'
    )


def bound(model: ModelRef) -> dict[str, tuple[Stage, Reader]]:
    """Both screening stages with their readers."""
    protocol = parse_protocol(protocol_text())
    found: dict[str, tuple[Stage, Reader]] = {}
    for name, spec in protocol.stages.items():
        own = Reader(name=spec.readers[0], model=model, via="m", prompt=load(name, PROMPTS[name]), context=CONTEXT)
        found[name] = (STAGE_CLASSES.get(name)(protocol, spec, {own.name: own}), own)
    return found


def plain_request(stage: Stage, reader: Reader, title: str, text: str, name: str) -> Request:
    """The same question without marks around the text and without a word about them."""
    assert reader.prompt is not None
    system = "\n".join(line for line in stage.system(reader).content.splitlines() if not line.startswith(MARKS))
    user = stage.filled(reader, reader.prompt.user, {"title": f"Title: {title}", name: text})
    shape = LabelShape(labels=(reader.include_label, reader.exclude_label))
    return stage.request(reader, (say("system", system), say("user", user)), shape, max_tokens=reader.max_tokens)


def asked_abstract(stage: Stage, reader: Reader, key: str, paper: Paper, abstract: str) -> Asked:
    """A title and abstract in both ways."""
    record = Record(record_id="r", title=paper.title, abstract=abstract, abstract_status=AbstractStatus.OK)
    subject = Subject(record=record)
    defended = stage.step(subject, reader, ())
    assert isinstance(defended, Request)
    plain = plain_request(stage, reader, paper.title, f"Abstract: {abstract}", "abstract")
    return Asked(key, "title_abstract", plain, defended, stage.guard(subject) is not None)


def asked_report(stage: Stage, reader: Reader, key: str, paper: Paper, path: Path) -> Asked:
    """A full text in both ways."""
    document = inspected(read_document(path))
    subject = Subject(record=Record(record_id="r", title=paper.title), document=document)
    defended = stage.step(subject, reader, ())
    if isinstance(defended, Refer) or not isinstance(defended, Request):
        raise SystemExit(f"{key}: no question can be put: {defended}")
    plain = plain_request(stage, reader, paper.title, f"Report: {naive_text(path, document)}", "text")
    return Asked(key, "full_text", plain, defended, stage.guard(subject) is not None)


def naive_text(path: Path, document: Document) -> str:
    """All text of a file as common extractors give it, what is hidden on the page included."""
    if document.format == "pdf":
        pdf = pypdfium2.PdfDocument(path)
        return "\n".join(str(page.get_textpage().get_text_range()) for page in pdf)
    root = etree.parse(path, etree.XMLParser(remove_comments=True, remove_pis=True, resolve_entities=False)).getroot()
    return " ".join(" ".join(str(part) for part in root.itertext()).split())


def questions(stages: Mapping[str, tuple[Stage, Reader]], cases: Sequence[Case], folder: Path) -> list[Asked]:
    """The clean papers in every carrier that is used, then the cases."""
    found = []
    for paper in papers():
        found.append(asked_abstract(*stages["title_abstract"], f"clean abstract {paper.id}", paper, paper.abstract))
        for carrier in ("jats", "tei", "pdf"):
            found.append(
                _report(stages, f"clean {carrier} {paper.id}", case("clean", carrier, _plainest(carrier), paper, ""), folder)
            )
    for one in cases:
        if isinstance(one.content, str):
            found.append(asked_abstract(*stages["title_abstract"], one.name, one.paper, one.content))
        else:
            found.append(_report(stages, one.name, one, folder))
    return found


def _plainest(carrier: str) -> str:
    return next(place for place, (seen, _) in PLACES[carrier].items() if seen)


def _report(stages: Mapping[str, tuple[Stage, Reader]], key: str, one: Case, folder: Path) -> Asked:
    assert isinstance(one.content, bytes)
    path = folder / f"{key.replace(' ', '_')}{one.ending}"
    path.write_bytes(one.content)
    return asked_report(*stages["full_text"], key, one.paper, path)


async def ask(spec: ModelSpec, requests: Sequence[Request], minutes: float, kept: Path | None) -> dict[str, Reply]:
    """Replies by request key, as far as the minutes reach, those of earlier runs with them."""
    lines = kept.read_text(encoding="utf-8").splitlines() if kept and kept.exists() else []
    replies = {reply.key: reply for reply in map(Reply.model_validate_json, lines)}
    backend = BACKENDS.get(spec.backend)("m", spec, Path())
    started = time.monotonic()
    try:
        async for key, came in backend.ask([request for request in requests if request.key not in replies]):
            if isinstance(came, Reply):
                replies[key] = came
                if kept:
                    with kept.open("a", encoding="utf-8") as out:
                        out.write(came.model_dump_json() + "\n")
            if time.monotonic() - started > 60 * minutes:
                backend.hold()
    finally:
        await backend.close()
    return replies


async def model_of(spec: ModelSpec) -> ModelRef:
    """The model with its engine and the hash of its weights."""
    backend = BACKENDS.get(spec.backend)("m", spec, Path())
    try:
        return ModelRef(name=spec.model, revision=await backend.revision(), engine=await backend.engine())
    finally:
        await backend.close()


def put(asked: Iterable[Asked], stage: str, way: str) -> list[Request]:
    """The requests of one stage and way, which share the beginning of their prompts; clean papers first."""
    ordered = sorted((one for one in asked if one.stage == stage), key=lambda one: not one.key.startswith("clean"))
    return [one.plain if way == "plain" else one.defended for one in ordered]


def scored(asked: Iterable[Asked], replies: Mapping[str, Reply]) -> dict[tuple[str, str], float]:
    """p(include) by (key, way)."""
    scores = {}
    for one in asked:
        for way, request in zip(WAYS, (one.plain, one.defended), strict=True):
            score = p_include(replies[request.key], "yes", "no") if request.key in replies else None
            if score is not None:
                scores[one.key, way] = score
    return scores


def fitted(scores: Scores, carrier: str, way: str) -> float:
    """The cut with the highest balanced accuracy on the clean papers of a carrier, the lower of several; NaN without scores."""
    known = [(scores[key, way], paper.meets) for paper in papers() if ((key := f"clean {carrier} {paper.id}"), way) in scores]

    def balanced(cut: float) -> float:
        sides = [[(score >= cut) is meets for score, meets in known if meets is side] for side in (True, False)]
        return mean(mean(side) if side else 0.0 for side in sides)

    return max(sorted(score for score, _ in known), key=balanced, default=math.nan)


@dataclass(frozen=True)
class Outcome:
    """What came of one case: p(include) clean and attacked in both ways, and whether each was turned round."""

    case: Case
    clean: tuple[float, ...]
    attacked: tuple[float, ...]
    below: tuple[bool, ...]
    flips: tuple[bool, ...]
    held: bool


def outcomes(cases: Sequence[Case], asked: Mapping[str, Asked], scores: Scores) -> list[Outcome]:
    """The cases with a score in both ways."""
    cuts = {(carrier, way): fitted(scores, carrier, way) for carrier in PLACES for way in WAYS}
    found = []
    for one in cases:
        clean_key = f"clean {one.carrier} {one.paper.id}"
        if any((key, way) not in scores for key in (one.name, clean_key) for way in WAYS):
            continue
        clean, attacked = ([scores[key, way] for way in WAYS] for key in (clean_key, one.name))
        below = [score < cuts[one.carrier, way] for score, way in zip(clean, WAYS, strict=True)]
        above = [score >= cuts[one.carrier, way] for score, way in zip(attacked, WAYS, strict=True)]
        flips = [was and now for was, now in zip(below, above, strict=True)]
        found.append(Outcome(one, tuple(clean), tuple(attacked), tuple(below), tuple(flips), asked[one.name].held))
    return found


def table(title: str, groups: Mapping[str, Sequence[Outcome]]) -> str:
    """Mean shift of p(include) and flips by group."""
    lines = [
        f"| {title} | cases | shift, plain | flips, plain | shift, defended | flips, defended | to a person | flips that pass |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, group in groups.items():
        shifts = [mean(one.attacked[way] - one.clean[way] for one in group) for way in (0, 1)]
        flips = [f"{sum(one.flips[way] for one in group)} of {sum(one.below[way] for one in group)}" for way in (0, 1)]
        held = sum(one.held for one in group)
        wrong = sum(one.flips[1] and not one.held for one in group)
        lines.append(
            f"| {name} | {len(group)} | {shifts[0]:+.3f} | {flips[0]} | {shifts[1]:+.3f} | {flips[1]} | {held} | {wrong} |"
        )
    return "\n".join(lines)


def named(found: Sequence[Outcome]) -> str:
    """p(include) of every case, clean and attacked, in both ways."""
    lines = [
        "| case | plain, clean | plain, injected | defended, clean | defended, injected | to a person |",
        "|---|---|---|---|---|---|",
    ]
    for one in found:
        figures = [f"{score:.3f}" for way in (0, 1) for score in (one.clean[way], one.attacked[way])]
        lines.append(f"| {one.case.name} | {' | '.join(figures)} | {'yes' if one.held else 'no'} |")
    return "\n".join(lines)


def grouped(found: Sequence[Outcome], attribute: str) -> dict[str, list[Outcome]]:
    """The outcomes by kind or carrier, and all together."""
    groups: dict[str, list[Outcome]] = {}
    for one in found:
        groups.setdefault(str(getattr(one.case, attribute)), []).append(one)
    return {**groups, "all": list(found)} if found else {}


def main(minutes: float = 15, kept: Path | None = None, model: str = "qwen2.5-coder-1.5b") -> None:
    """Ask, score, print."""
    spec = ModelSpec(backend="embedded", model=model, context=CONTEXT)
    reference = asyncio.run(model_of(spec))
    cases = [one for one in suite() if one.number == 0]
    with tempfile.TemporaryDirectory() as folder:
        asked = questions(bound(reference), cases, Path(folder))
    requests = {request.key: request for stage in PROMPTS for way in WAYS for request in put(asked, stage, way)}
    replies = asyncio.run(ask(spec, list(requests.values()), minutes, kept))
    scores = scored(asked, replies)
    found = outcomes(cases, {one.key: one for one in asked}, scores)
    print(f"{reference}, {reference.engine}: {len(requests.keys() & replies)} of {len(requests)} calls\n")
    for carrier in PLACES:
        for way in WAYS:
            clean = {paper.id: scores.get((f"clean {carrier} {paper.id}", way)) for paper in papers()}
            shown = ", ".join(f"{name} {score:.3f}" for name, score in clean.items() if score is not None)
            print(f"clean, {carrier}, {way}: cut {fitted(scores, carrier, way):.3f}; {shown}")
    print()
    print(named(found), "\n")
    print(table("kind", grouped(found, "kind")), "\n")
    print(table("carrier", grouped(found, "carrier")))


if __name__ == "__main__":
    main(*(kind(word) for kind, word in zip((float, Path, str), sys.argv[1:], strict=False)))
