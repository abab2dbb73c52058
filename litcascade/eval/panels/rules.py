"""Rules: how the readings of a panel become a decision. Frozen data, chosen here and applied elsewhere; JSON in and out."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter, ValidationError, model_validator

from litcascade.errors import InputError
from litcascade.schemas import Frozen

By = Literal["score", "vote"]
Names = Annotated[tuple[str, ...], Field(min_length=1)]


def _distinct(names: Sequence[str]) -> None:
    if len(set(names)) != len(names):
        raise ValueError("a reader is named twice; its vote would count twice")


class AtLeast(Frozen):
    """Include where at least `votes` of the readers include. One vote: any reader; n // 2 + 1: the majority."""

    kind: Literal["at_least"] = "at_least"
    readers: Names
    votes: int = Field(ge=1)

    @model_validator(mode="after")
    def _reachable(self) -> "AtLeast":
        _distinct(self.readers)
        if self.votes > len(self.readers):
            raise ValueError(f"{self.votes} votes can never be reached by {len(self.readers)} reader(s)")
        return self


class Union(Frozen):
    """Include where strong votes >= `strong_votes` or lenient votes >= `lenient_votes` (SciLitBench's combined rule).

    A threshold one above the size of its pool is never reached: that pool then does not include by itself.
    """

    kind: Literal["union"] = "union"
    strong: Names
    lenient: Names
    strong_votes: int = Field(ge=1)
    lenient_votes: int = Field(ge=1)

    @model_validator(mode="after")
    def _reachable(self) -> "Union":
        _distinct([*self.strong, *self.lenient])
        over = self.strong_votes - len(self.strong), self.lenient_votes - len(self.lenient)
        if max(over) > 1 or min(over) > 0:
            raise ValueError("neither pool can reach its threshold, or one threshold lies more than one above its pool")
        return self

    @property
    def readers(self) -> tuple[str, ...]:
        """Both pools."""
        return (*self.strong, *self.lenient)


class Weighted(Frozen):
    """Include where the sum of the weights of the readers that include reaches `threshold`. Weights may be below 0."""

    kind: Literal["weighted"] = "weighted"
    readers: Names
    weights: Annotated[tuple[float, ...], Field(min_length=1)]
    threshold: float = Field(allow_inf_nan=False)

    @model_validator(mode="after")
    def _paired(self) -> "Weighted":
        _distinct(self.readers)
        if len(self.weights) != len(self.readers):
            raise ValueError(f"{len(self.readers)} reader(s) have {len(self.weights)} weight(s)")
        return self


class MeanScore(Frozen):
    """Include where the mean p(include) of the readers reaches `threshold`; without a reader's score a person decides."""

    kind: Literal["mean_score"] = "mean_score"
    readers: Names
    threshold: float = Field(ge=0, le=1)

    @model_validator(mode="after")
    def _once(self) -> "MeanScore":
        _distinct(self.readers)
        return self


class LengthBin(Frozen):
    """The rule for records of one range of lengths: the weighted rule over the readers that are asked there."""

    readers: Names
    weights: tuple[float, ...]
    intercept: float = Field(allow_inf_nan=False)
    threshold: float = Field(allow_inf_nan=False)
    n: int = 0
    includes: int = 0

    def weighted(self) -> Weighted:
        """The same as a weighted rule: the intercept moved into the threshold."""
        return Weighted(readers=self.readers, weights=self.weights, threshold=self.threshold - self.intercept)


class LengthRouted(Frozen):
    """Which readers are asked, and how their votes weigh, by the record's length in tokens of `tokens_of`.

    Bin b holds lengths from edges[b-1] (included) to edges[b] (not included). A record of unknown length is referred.
    """

    kind: Literal["length_routed"] = "length_routed"
    edges: tuple[float, ...]
    bins: Annotated[tuple[LengthBin, ...], Field(min_length=1)]
    tokens_of: str = ""

    @model_validator(mode="after")
    def _ordered(self) -> "LengthRouted":
        if len(self.bins) != len(self.edges) + 1 or list(self.edges) != sorted(set(self.edges)):
            raise ValueError("n bins need n - 1 rising edges")
        return self

    @property
    def readers(self) -> tuple[str, ...]:
        """Every reader that is asked in some bin."""
        return tuple(dict.fromkeys(name for one in self.bins for name in one.readers))


class Escalation(Frozen):
    """The cheap reader first; the strong one only where the cheap score lies within [low, high].

    Above `high` the record is included, below `low` excluded. In between, and where the cheap reader failed, the strong
    reader decides: by its score where `strong_threshold` is set, else by its vote. `by` says whether the cheap reader's
    score is p(include) or its vote as 0 or 1. With low > high the band is empty: the strong reader is asked only where the
    cheap one failed.
    """

    kind: Literal["escalation"] = "escalation"
    cheap: str
    strong: str
    low: float
    high: float
    by: By = "score"
    strong_threshold: float | None = Field(default=None, ge=0, le=1)

    @model_validator(mode="after")
    def _two(self) -> "Escalation":
        if self.cheap == self.strong:
            raise ValueError("the cheap and the strong reader are the same")
        return self

    @property
    def readers(self) -> tuple[str, ...]:
        """Both, the cheap one first."""
        return (self.cheap, self.strong)


Rule = Annotated[AtLeast | Union | Weighted | MeanScore | LengthRouted | Escalation, Field(discriminator="kind")]
_ADAPTER: TypeAdapter[Rule] = TypeAdapter(Rule)


def parse_rule(content: dict[str, Any]) -> Rule:
    """A rule from its `model_dump()` (or JSON); what is no rule is an `InputError`."""
    try:
        return _ADAPTER.validate_python(content)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "rule"
        raise InputError(f"the stored rule cannot be used: {where}: {first['msg']}") from None


def majority(readers: Sequence[str]) -> AtLeast:
    """More than half of the readers: n // 2 + 1 votes."""
    return AtLeast(readers=tuple(readers), votes=len(readers) // 2 + 1)


def any_of(readers: Sequence[str]) -> AtLeast:
    """One vote is enough: the most recall-safe combination of votes."""
    return AtLeast(readers=tuple(readers), votes=1)


def describe(rule: Rule) -> str:
    """The rule in a line."""
    match rule:
        case AtLeast():
            return f"at least {rule.votes} of {', '.join(rule.readers)}"
        case Union():
            return (
                f"strong >= {rule.strong_votes} of {len(rule.strong)} or lenient >= {rule.lenient_votes} of {len(rule.lenient)}"
            )
        case Weighted():
            return f"weighted votes of {len(rule.readers)} readers >= {rule.threshold:g}"
        case MeanScore():
            return f"mean score of {', '.join(rule.readers)} >= {rule.threshold:g}"
        case LengthRouted():
            return f"by length, {len(rule.bins)} bin(s) over {', '.join(rule.readers)}"
        case Escalation() if rule.low > rule.high:
            return f"{rule.cheap} where its {rule.by} is above {rule.high:g}; {rule.strong} only where it failed"
        case Escalation():
            return f"{rule.cheap}; {rule.strong} where its {rule.by} lies in [{rule.low:g}, {rule.high:g}]"
