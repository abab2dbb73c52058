"""Judges bound to a reader's model, dressed as a stage that the executor can drive, with fingerprints of their own."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from litcascade.errors import InputError
from litcascade.judges import MODEL_JUDGES, Judged, ModelJudge, Rubric, RubricJudge, Tools, Unit
from litcascade.judges.prompting import load
from litcascade.pipeline.review import Review
from litcascade.registry import nearest
from litcascade.schemas import (
    Answer,
    Ask,
    ModelRef,
    Reader,
    ReaderSpec,
    Reading,
    Refer,
    ReferCode,
    Request,
    StageSpec,
    State,
    Turn,
    Verdict,
    digest,
)
from litcascade.stages import Stage, Subject
from litcascade.stages.parse import read_object, read_word
from litcascade.stages.prompt import fence, fill
from litcascade.stages.quote import fold, stands_in

TOKENS = 8
TOOLS = Tools(
    fence=fence, fill=fill, read_word=read_word, read_object=read_object, quoted=lambda quote, text: stands_in(quote, fold(text))
)


class JudgeSubject(Subject):
    """A unit on its way through the executor."""

    unit: Unit


class JudgedAnswer(Answer):
    """A judgement as the executor carries answers."""

    judged: Judged


class JudgeVerdict(Verdict):
    """A unit with what the judge found, or why there is no judgement."""

    unit: Unit
    outcome: Judged | Refer


class JudgeStage(Stage):
    """A judge in the shape that executors drive: one reader, and its outcome as the verdict on a unit."""

    name: ClassVar[str] = "judge"

    def __init__(self, judge: ModelJudge) -> None:
        self.judge = judge
        self.spec = StageSpec(readers=(judge.reader.name,))
        self.readers = {judge.reader.name: judge.reader}

    def ask(self, subject: Subject, reader: Reader) -> Request | Refer:
        """The first question."""
        outcome = self.step(subject, reader, ())
        return outcome if isinstance(outcome, Request | Refer) else Refer(code=ReferCode.FAULT, detail="judged unasked")

    def read(self, subject: Subject, reader: Reader, turns: Sequence[Turn]) -> Request | Answer | Refer:
        """What the turns say."""
        return self.step(subject, reader, turns)

    def step(self, subject: Subject, reader: Reader, turns: Sequence[Turn]) -> Request | Answer | Refer:
        """The judge's own step."""
        assert isinstance(subject, JudgeSubject)
        outcome = self.judge.step(subject.unit, turns)
        return JudgedAnswer(judged=outcome) if isinstance(outcome, Judged) else outcome

    def decide(self, subject: Subject, readings: Mapping[str, Reading]) -> Ask | Verdict:
        """The one reading."""
        assert isinstance(subject, JudgeSubject)
        name = self.judge.reader.name
        if name not in readings:
            return Ask(readers=(name,))
        told = readings[name].outcome
        outcome: Judged | Refer = told.judged if isinstance(told, JudgedAnswer) else Refer(code=ReferCode.FAULT)
        if isinstance(told, Refer):
            outcome = told
        return JudgeVerdict(
            record_id=subject.unit.record_id, stage=self.name, state=State.EXTRACTED, readings=(readings[name],),
            unit=subject.unit, outcome=outcome,
        )  # fmt: skip


@dataclass(frozen=True)
class BoundJudge:
    """A judge ready to run; its judgements are stored under the fingerprint."""

    name: str
    judge: ModelJudge
    fingerprint: str


def reader_spec(review: Review, name: str) -> ReaderSpec:
    """The reader that is to judge; a person, another style or other labels are an `InputError`."""
    readers = review.protocol.readers
    if name not in readers:
        raise InputError(f"there is no reader '{name}' in review.toml{nearest(name, readers)}")
    spec = readers[name]
    if spec.person:
        raise InputError(f"reader '{name}' is a person; people judge by labelling the sample (litcascade judge plan)")
    if spec.style != "constrained" or tuple(label.casefold() for label in spec.labels) != ("yes", "no"):
        raise InputError(f'reader \'{name}\' cannot judge: a judge needs style = "constrained" and labels = ["yes", "no"]')
    return spec


def judge_reader(review: Review, name: str, model: ModelRef) -> Reader:
    """The reader with its model; the judges bring their own prompts, and worked examples are not shown."""
    spec = reader_spec(review, name)
    return Reader(
        name=name, model=model, via=str(spec.model), temperature=spec.temperature, seed=spec.seed,
        max_tokens=spec.max_tokens or TOKENS, context=review.protocol.models[str(spec.model)].context,
    )  # fmt: skip


def bind_judge(name: str, reader: Reader, rubric: Rubric | None = None) -> BoundJudge:
    """A judge by name with its prompt; `rubric` is asked with a scale, and is known by the scale's name."""
    if name == "rubric":
        if rubric is None:
            raise InputError("the judge 'rubric' needs a scale; give --rubric FILE.toml")
        judge: ModelJudge = RubricJudge(reader, load(name), TOOLS, rubric)
        return BoundJudge(f"rubric {rubric.name}", judge, fingerprint(judge))
    judge = MODEL_JUDGES.get(name)(reader, load(name), TOOLS)
    return BoundJudge(name, judge, fingerprint(judge))


def fingerprint(judge: ModelJudge) -> str:
    """What a judgement rests on beside its unit: the judge's version, prompt and scale, and the reader with its model."""
    window = {"context"} if judge.needs_text else set[str]()
    kept = judge.reader.model_dump(mode="json", include={"model", "temperature", "seed", "max_tokens"} | window)
    return f"judge:{digest([judge.rests_on, kept])}"
