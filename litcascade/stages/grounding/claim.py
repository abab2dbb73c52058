"""What a reader claims, and what its quote is found to be worth."""

from enum import StrEnum
from typing import Any, Literal

from litcascade.schemas import FieldSpec, Frozen
from litcascade.stages.grounding.index import Span

Direction = Literal["higher", "lower", "no difference"]
Kind = Literal["closed", "multi", "ordinal", "number", "date", "open"]


class Arm(Frozen):
    """A group of the study by the name that the report uses, with other names for it (`Z`, `zinc gluconate`)."""

    name: str
    aliases: tuple[str, ...] = ()


class Claim(Frozen):
    """One extracted value with the quote it rests on, and what is known of what it is about.

    `value` is the value as the reader gave it. `kind` as in `FieldSpec`: labels (closed, multi, ordinal) are read otherwise than
    numbers and free text; `choices` are the labels allowed. `arms` are the groups of the study, `arm` the name of the one
    that the value is claimed for; `times` and `time` likewise for time points (`12 weeks`). `unit` is a unit of measure, or
    `patients` for counts. `direction` is claimed for `arm` against the others. `negated` says whether the claim is that
    something is not so. What is None is not compared.
    """

    field: str
    quote: str
    value: str | int | float | bool | tuple[str | int | float, ...]
    kind: Kind = "number"
    unit: str | None = None
    arms: tuple[Arm, ...] = ()
    arm: str | None = None
    times: tuple[str, ...] = ()
    time: str | None = None
    choices: tuple[str, ...] = ()
    direction: Direction | None = None
    negated: bool | None = None

    @classmethod
    def of(cls, spec: FieldSpec, value: str | int | float | list[str], quote: str | None, **about: Any) -> "Claim":
        """The claim of a field's value as `Extraction` reads it; `about` are further keys. A missing quote is an empty one."""
        assert spec.kind != "group", "the rows of a group are claims of their own"
        given = tuple(value) if isinstance(value, list) else value
        told = {"kind": spec.kind, "unit": spec.unit, "choices": spec.values, **about}
        return cls(field=spec.name, quote=quote or "", value=given, **told)


class Status(StrEnum):
    """What a quote is worth for its value; only `supported` needs no person."""

    SUPPORTED = "supported"
    NOT_FOUND = "quote not found"
    NO_VALUE = "value not in quote"
    NUMBER = "number differs"
    ARM = "other arm"
    TIME = "other time point"
    DIRECTION = "other direction"
    NEGATED = "negated"
    UNIT = "unit differs"
    AMBIGUOUS = "ambiguous"


class Compared(Frozen):
    """One thing that was compared: what, as claimed, as it stands in the text; `agrees` is None where it cannot be told."""

    what: Literal["number", "words", "unit", "arm", "time point", "direction", "negation"]
    claimed: str
    stands: str
    agrees: bool | None


class Difference(Frozen):
    """Where a near miss differs: what was quoted, what stands in the text, and of what kind the difference is."""

    kind: Literal["digits", "negation", "direction", "arm", "other words"]
    quoted: str
    stands: str


class NearMiss(Frozen):
    """The stretch of the text most like a quote that is not in it: for people's eyes alone, never accepted.

    `score` is the likeness in per cent of the best alignment.
    """

    span: Span
    text: str
    score: float
    differences: tuple[Difference, ...]


class Support(Frozen):
    """What became of a claim: its status, a sentence for people, where the quote stands, and what was compared.

    `spans` holds every place of the quote, the one that decided first.
    """

    status: Status
    words: str
    spans: tuple[Span, ...] = ()
    compared: tuple[Compared, ...] = ()
    near: NearMiss | None = None

    @property
    def supported(self) -> bool:
        """Whether the value may stand without a person's look."""
        return self.status is Status.SUPPORTED
