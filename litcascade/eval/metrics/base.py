"""What a metric is: a name that parses back, its formula's source, its range, and what happens when it is undefined."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeVar

from litcascade.errors import InputError
from litcascade.eval.confusion import Confusion
from litcascade.eval.estimate import Estimate
from litcascade.eval.rank import Ranking
from litcascade.registry import Registry

Kind = Literal["confusion", "ranking"]
OfConfusion = Callable[[Confusion, float], Estimate]
OfRanking = Callable[[Ranking, float], Estimate]
F = TypeVar("F", bound=Callable[..., Estimate])


@dataclass(frozen=True)
class MetricSpec:
    """A metric as declared; `parameter` is the letter after the @ with its default, where the metric has one."""

    name: str
    kind: Kind
    formula: str
    source: str
    low: float | None
    high: float | None
    undefined: str
    parameter: tuple[str, float] | None
    caution: str
    compute: Callable[..., Estimate]
    raters_only: bool = False


METRICS: Registry[MetricSpec] = Registry("metric")


def metric(
    name: str,
    kind: Kind,
    *,
    formula: str,
    source: str,
    low: float | None,
    high: float | None,
    undefined: str,
    parameter: tuple[str, float] | None = None,
    caution: str = "",
    raters_only: bool = False,
) -> Callable[[F], F]:
    """Register the decorated function as a metric. It takes a Confusion or a Ranking, and the parameter if there is one."""

    def file(function: F) -> F:
        spec = MetricSpec(name, kind, formula, source, low, high, undefined, parameter, caution, function, raters_only)
        METRICS.register(name)(spec)
        return function

    return file


@dataclass(frozen=True)
class Measure:
    """A metric with its parameter: a value whose text parses back (`wmcc@10`, `tnr@0.95`, `f@2`)."""

    spec: MetricSpec
    parameter: float | None

    def __str__(self) -> str:
        return self.spec.name if self.parameter is None else f"{self.spec.name}@{self.parameter:.12g}"

    def __call__(self, of: Confusion | Ranking) -> Estimate:
        """The estimate, under this measure's own name."""
        wanted = Confusion if self.spec.kind == "confusion" else Ranking
        if not isinstance(of, wanted):
            raise InputError(f"metric '{self}' needs a {wanted.__name__.lower()}, not a {type(of).__name__.lower()}")
        found = self.spec.compute(of) if self.parameter is None else self.spec.compute(of, self.parameter)
        return found.model_copy(update={"metric": str(self)})


def parse_measure(text: str) -> Measure:
    """Parse `name` or `name@parameter`; an unknown name or a parameter that fits not is an `InputError`."""
    name, at, given = text.strip().partition("@")
    spec = METRICS.get(name)
    if spec.parameter is None:
        if at:
            raise InputError(f"metric '{name}' takes no parameter (got '@{given}')")
        return Measure(spec, None)
    letter, default = spec.parameter
    if not at:
        return Measure(spec, default)
    try:
        value = float(given)
    except ValueError:
        value = float("nan")
    if not (0 < value < float("inf")):
        raise InputError(f"metric '{name}' needs {letter} as a number above 0 after the @ (got '{given}')")
    if letter == "k" and value < 1:
        raise InputError(f"metric '{name}' needs k of at least 1 after the @ (got '{given}')")
    if letter == "r" and value > 1:
        raise InputError(f"metric '{name}' needs a recall r from 0 to 1 after the @ (got '{given}')")
    return Measure(spec, value)


def caution_of(measure: str) -> str | None:
    """What to beware of in a measure that misleads on unequal classes, for a note beside its value; None for others."""
    spec = next((spec for name, spec in METRICS if name == measure.partition("@")[0]), None)
    return spec.caution if spec and "misleading" in spec.caution else None
