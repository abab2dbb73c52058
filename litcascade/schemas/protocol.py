"""The review as a person wrote it: `review.toml`, validated."""

from datetime import date
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from litcascade.schemas.bench import BenchSpec
from litcascade.schemas.fields import FieldSpec
from litcascade.schemas.keys import Frozen, digest

StageName = Literal["title_abstract", "full_text", "extraction"]
STAGES: tuple[StageName, ...] = ("title_abstract", "full_text", "extraction")
SCREENING: tuple[StageName, ...] = ("title_abstract", "full_text")


class Review(Frozen):
    """What the review asks, and who does it. `notes` are the annotation notes for every stage."""

    title: str
    question: str
    authors: tuple[str, ...] = ()
    notes: str = ""


class Search(Frozen):
    """One search of one source, for the record; `count` is what the source reported."""

    source: str
    date: date
    query: str = ""
    count: int | None = Field(default=None, ge=0)


class Criterion(Frozen):
    """One eligibility criterion, with the id that decisions and amendments refer to."""

    id: Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_-]*$")]
    kind: Literal["include", "exclude"]
    text: Annotated[str, Field(min_length=1)]
    stages: tuple[Literal["title_abstract", "full_text"], ...] = ("title_abstract", "full_text")
    notes: str = ""


class ModelSpec(Frozen):
    """A model and where it runs.

    backend: `embedded` (llama.cpp inside this process), `vllm` (vLLM inside this process), `http` (an OpenAI-compatible server
    such as vLLM's) or `recorded` (replies from a file). `weights` is where vLLM finds them, where that is not `model` itself: a
    folder beside the protocol, or a name of the hub. `vllm` holds further options of vLLM, by the names of its command line with
    underscores. `api_key_env` names an environment variable; keys themselves never stand in a protocol.
    `cutoff` is the date up to which the model's makers say it was trained, for the leakage statement. `family` and `size`
    (billions of parameters) are for the tables of a benchmark.
    """

    backend: Literal["embedded", "vllm", "http", "recorded"]
    model: str = ""
    weights: str = ""
    vllm: dict[str, bool | int | float | str | dict[str, Any]] = Field(default_factory=dict)
    revision: str = ""
    endpoints: tuple[str, ...] = ()
    api_key_env: str | None = None
    dialect: Literal["vllm", "llama.cpp"] = "vllm"
    context: int = Field(default=8192, ge=512)
    concurrency: int = Field(default=64, ge=1, le=4096)
    timeout: float = Field(default=300.0, gt=0)
    retries: int = Field(default=4, ge=0, le=20)
    cutoff: date | None = None
    file: str | None = None
    family: str = ""
    size: float | None = Field(default=None, gt=0)

    @model_validator(mode="after")
    def _has_what_its_backend_needs(self) -> "ModelSpec":
        if self.backend == "http" and not self.endpoints:
            raise ValueError('a model with backend = "http" needs endpoints = ["http://host:8000/v1"]')
        if self.backend == "recorded" and not self.file:
            raise ValueError('a model with backend = "recorded" needs file = "replies.jsonl"')
        if self.backend != "recorded" and not self.model:
            raise ValueError('needs model = "…" (the name the server serves it under, or one `litcascade model list` shows)')
        return self


class ReaderSpec(Frozen):
    """Who answers: a model with a prompt and parameters, or a person (`person = true`).

    `constrained` readers give one label, scored by its probability; `free` ones write first and are parsed;
    `criteria` ones answer every criterion with a quote (full-text screening).
    `prompt` is the name of a prompt the program ships, or the path of a file ending in .md beside the protocol. `shots` are ids
    of labelled records shown as worked examples, with `rationales` also why a person decided so (a quote and a sentence).
    """

    person: bool = False
    model: str | None = None
    prompt: str | None = None
    style: Literal["constrained", "free", "criteria"] = "constrained"
    labels: tuple[str, str] = ("yes", "no")
    shots: tuple[str, ...] = ()
    rationales: bool = False
    temperature: float = Field(default=0.0, ge=0, le=2)
    seed: int | None = None
    max_tokens: int | None = Field(default=None, ge=1)

    @model_validator(mode="after")
    def _person_or_model(self) -> "ReaderSpec":
        if self.person == (self.model is not None):
            raise ValueError("a reader is either a person (person = true) or has a model")
        if self.labels[0].casefold() == self.labels[1].casefold():
            raise ValueError("labels must be two different words, the including one first")
        if any(not label.strip() for label in self.labels):
            raise ValueError("labels must be two words, the including one first")
        return self


class StageSpec(Frozen):
    """One stage: its readers, how their readings become a verdict, and what waits for people.

    policy `threshold`: include where the (mean) p(include) reaches `threshold`; scores inside `unsure` go to people.
    policy `vote`: include where at least `votes` readers include (default 1: any).
    policy `rule`: the frozen `rule` of a panel says whom to ask, and decides (see `eval.panels`); who is not asked costs nothing.
    logic: how the criteria combine for readers of style `criteria`, such as `I1 and (I2 or I3) and not E1`.
    long: a report longer than the window is read in windows, trimmed (back matter, notes, figures, tables), or referred.
    calls: extraction asks for all fields at once, part by part, or field by field. passes: 2 asks once more for what was not
    reported, and so on.
    longer: the reader that is asked in place of one whose window the text does not fit.
    positives `people`: what models include waits for a person to confirm; what they exclude is a silver exclusion.
    referred `wait`: a referred record waits for a person; `pass`: it goes on, marked, and stays queued.
    gate `people`: the run stops after this stage until every referred record has a person's decision.
    people `double` (screening): at the desk two people read each record blind; agreement settles it, anything else is the
    arbiter's.
    """

    readers: tuple[str, ...] = Field(min_length=1)
    policy: Literal["vote", "threshold", "rule"] = "vote"
    rule: dict[str, Any] | None = None
    votes: int = Field(default=1, ge=1)
    threshold: float | None = Field(default=None, ge=0, le=1)
    unsure: tuple[float, float] | None = None
    refiner: str | None = None
    repairs: int = Field(default=1, ge=0, le=5)
    logic: str | None = None
    long: Literal["window", "trim", "refer"] = "window"
    longer: str | None = None
    calls: Literal["all", "part", "field"] = "all"
    passes: int = Field(default=1, ge=1, le=5)
    positives: Literal["pass", "people"] = "pass"
    referred: Literal["wait", "pass"] = "wait"
    gate: Literal["none", "people"] = "none"
    people: Literal["single", "double"] = "single"

    @model_validator(mode="after")
    def _policy_is_whole(self) -> "StageSpec":
        if self.policy == "threshold" and self.threshold is None:
            raise ValueError('policy = "threshold" needs threshold = a number from 0 to 1')
        if len(set(self.readers)) != len(self.readers):
            raise ValueError("a reader is named twice; its vote would count twice")
        if self.policy != "threshold" and (self.threshold is not None or self.unsure is not None):
            raise ValueError(f'threshold and unsure do nothing under policy = "{self.policy}"; set policy = "threshold"')
        if (self.policy == "rule") != (self.rule is not None):
            raise ValueError('policy = "rule" and a table rule belong together; give both or neither')
        if self.policy != "threshold" and self.votes > len(self.readers):
            raise ValueError(f"votes = {self.votes} can never be reached by {len(self.readers)} reader(s)")
        if self.unsure and not 0 <= self.unsure[0] <= self.unsure[1] <= 1:
            raise ValueError("unsure = [low, high] needs 0 <= low <= high <= 1")
        return self


class Stages(Frozen):
    """The stages of this review, in the order of the cascade; leave out the ones not done here."""

    title_abstract: StageSpec | None = None
    full_text: StageSpec | None = None
    extraction: StageSpec | None = None

    @model_validator(mode="after")
    def _values_are_checked_by_one(self) -> "Stages":
        if self.extraction is not None and self.extraction.people == "double":
            raise ValueError('people = "double" is for screening stages; extracted values are checked by one person')
        return self

    def items(self) -> list[tuple[StageName, StageSpec]]:
        """The declared stages in order."""
        named = [(name, getattr(self, name)) for name in STAGES]
        return [(name, spec) for name, spec in named if spec is not None]


class OperatingPoint(Frozen):
    """How much evidence may be lost: the recall aimed at, and the weight w of a missed include in WMCC, and why."""

    recall: float = Field(default=0.95, gt=0, le=1)
    weight: float = Field(default=10.0, ge=1)
    justification: str = ""


class Budget(Frozen):
    """Where a run stops cleanly; None means no limit. Tokens are prompt plus completion."""

    calls: int | None = Field(default=None, ge=1)
    tokens: int | None = Field(default=None, ge=1)
    minutes: float | None = Field(default=None, gt=0)


class Protocol(Frozen):
    """The whole protocol. Cross-references (readers to models, stages to readers) have been checked."""

    review: Review
    search: tuple[Search, ...] = ()
    criteria: tuple[Criterion, ...] = Field(min_length=1)
    models: dict[str, ModelSpec] = Field(default_factory=dict)
    readers: dict[str, ReaderSpec] = Field(default_factory=dict)
    stages: Stages
    fields: tuple[FieldSpec, ...] = ()
    operating_point: OperatingPoint = OperatingPoint()
    budget: Budget = Budget()
    bench: BenchSpec | None = None

    def criteria_for(self, stage: str) -> tuple[Criterion, ...]:
        """The criteria that apply at a screening stage, includes first."""
        mine = [criterion for criterion in self.criteria if stage in criterion.stages]
        return tuple(sorted(mine, key=lambda criterion: criterion.kind != "include"))

    def criteria_hash(self, stage: str) -> str:
        """The version of what people decide by at a stage: question, notes and criteria (or fields), whatever their order."""
        parts: list[Any] = [self.review.question, self.review.notes]
        if stage == "extraction":
            parts += [field.model_dump(mode="json") for field in sorted(self.fields, key=lambda field: field.name)]
        else:
            mine = sorted(self.criteria_for(stage), key=lambda criterion: criterion.id)
            parts += [criterion.model_dump(mode="json") for criterion in mine]
        return digest(parts)

    def hash(self) -> str:
        """32 hexadecimal digits of what a run rests on: the protocol without its grid and how people read, which no run reads."""
        unread: dict[str, Any] = {"bench": True, "stages": {name: {"people"} for name in STAGES}}
        return digest(self.model_dump(mode="json", exclude=unread))
