"""What may be promised: a threshold with its recall certificate, an elusion sample, and whom to deploy."""

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
from scipy import stats

from litcascade.errors import InputError
from litcascade.eval.confusion import Confusion
from litcascade.eval.estimate import Estimate
from litcascade.eval.intervals import clopper_pearson, most_in_population, recall_interval, wmcc_interval
from litcascade.schemas import Frozen


def certificate(found: int, includes: int, alpha: float = 0.05) -> Estimate:
    """Recall shown by `found` of `includes` labelled includes: the one-sided exact lower bound (Clopper-Pearson).

    Errs at most alpha of the time. 59 / 93 / 124 / 153 includes with 0 / 1 / 2 / 3 misses show .95 at 95 %. Undefined
    without labelled includes.
    """
    if not includes:
        return Estimate(metric="recall", value=None, n=0, note="no labelled include, so nothing can be shown")
    low, _ = clopper_pearson(found, includes, alpha, one_sided=True)
    return Estimate(metric="recall", value=found / includes, n=includes, low=low, high=1.0, note=f"shown at {1 - alpha:.0%}")


class Chosen(Frozen):
    """A threshold with what is shown for it; None where even the most inclusive one cannot be shown."""

    threshold: float | None
    shown: Estimate
    note: str


def choose_threshold(
    scores_of_includes: npt.ArrayLike, thresholds: Sequence[float], target: float, alpha: float = 0.05
) -> Chosen:
    """The highest threshold whose recall is shown to reach `target`, by fixed-sequence testing from the lowest up.

    Each is tested at alpha with the exact bound; the first that fails ends the search, so that the chance of choosing
    one with true recall below the target stays at most alpha. Use a split that is not used for the report.
    """
    scores = np.asarray(scores_of_includes, dtype=float)
    if np.isnan(scores).any() or ((scores < 0) | (scores > 1)).any():
        raise InputError("a score is not a number from 0 to 1; refer such records, they count as found")
    best: float | None = None
    shown = certificate(len(scores), len(scores), alpha)
    for threshold in sorted(thresholds):
        here = certificate(int((scores >= threshold).sum()), len(scores), alpha)
        if here.low is None or here.low < target:
            shown = shown if best is not None else here
            break
        best, shown = threshold, here
    if best is not None:
        return Chosen(threshold=best, shown=shown, note=f"recall of at least {target:g} is shown")
    needed = includes_needed(target, 0, alpha)
    note = f"no threshold can be shown to reach {target:g}; that needs {needed} includes without a miss"
    return Chosen(threshold=None, shown=shown, note=note)


def includes_needed(target: float, misses: int, alpha: float = 0.05) -> int:
    """How many labelled includes, with so many misses, show a recall of `target`: exact, by search upward."""
    if not 0 < target < 1:
        raise InputError("a recall to be shown lies between 0 and 1")
    low, high = misses + 1, misses + 2
    while clopper_pearson(high - misses, high, alpha, one_sided=True)[0] < target:
        low, high = high, high * 2
    while low < high:
        middle = (low + high) // 2
        if clopper_pearson(middle - misses, middle, alpha, one_sided=True)[0] >= target:
            high = middle
        else:
            low = middle + 1
    return low


class Elusion(Frozen):
    """What an elusion sample shows: at most `most_missed` relevant among the excluded, and so recall of at least `recall_low`."""

    excluded: int
    sample: int
    relevant: int
    most_missed: int
    recall_low: float | None
    note: str | None = None


def elusion(excluded: int, sample: int, relevant: int, found: int, alpha: float = 0.05) -> Elusion:
    """The exact bound from re-reading `sample` of `excluded` records and finding `relevant` ones; `found` are included.

    K_U = max{K : P(X <= relevant) > alpha, X hypergeometric}; recall >= found / (found + K_U).
    """
    most = most_in_population(relevant, sample, excluded, alpha)
    if not found:
        return Elusion(excluded=excluded, sample=sample, relevant=relevant, most_missed=most, recall_low=None,
                       note="nothing relevant was found, so recall has no bound")  # fmt: skip
    return Elusion(excluded=excluded, sample=sample, relevant=relevant, most_missed=most, recall_low=found / (found + most))


class PlanRow(Frozen):
    """To re-read `sample` exclusions; with at most `allowed` relevant among them the recall is shown.

    `chance` is the probability that this succeeds if `assumed` relevant records truly are among the excluded.
    """

    allowed: int
    sample: int | None
    chance: float | None


def plan_elusion(
    excluded: int, found: int, target: float, *, alpha: float = 0.05, assumed: int = 0, most_allowed: int = 3
) -> list[PlanRow]:
    """How many exclusions must be re-read to claim recall >= target, for 0, 1, 2, … relevant ones found among them.

    `sample` None: not even reading all of them would show it.
    """
    if not 0 < target < 1 or found < 1 or excluded < 1 or assumed > excluded:
        raise InputError("plan needs a recall between 0 and 1, at least one found, and fewer assumed misses than exclusions")
    tolerated = int(np.floor(found / target - found + 1e-9))
    rows = []
    for allowed in range(most_allowed + 1):
        n = _smallest_sample(excluded, allowed, tolerated, alpha)
        chance = None if n is None else float(stats.hypergeom.cdf(allowed, excluded, assumed, n))
        rows.append(PlanRow(allowed=allowed, sample=n, chance=chance))
    return rows


def _smallest_sample(excluded: int, allowed: int, tolerated: int, alpha: float) -> int | None:
    if allowed > tolerated:
        return None
    low, high = min(excluded, allowed + 1), excluded
    while low < high:
        middle = (low + high) // 2
        if most_in_population(allowed, middle, excluded, alpha) <= tolerated:
            high = middle
        else:
            low = middle + 1
    return low


class Candidate(Frozen):
    """A classification process (model, panel, person, or model with a person) and how it did on the validation sample."""

    name: str
    recall: Estimate
    mcc: Estimate
    wmcc: Estimate
    passes: bool
    why: str


class Deployment(Frozen):
    """Whom to deploy; None: people screen."""

    chosen: str | None
    candidates: tuple[Candidate, ...]
    note: str


def choose_deployment(
    confusions: Mapping[str, Confusion], target: float, rng: np.random.Generator, *, weight: float = 10.0,
    population: int | None = None, alpha: float = 0.05,
) -> Deployment:  # fmt: skip
    """The deployment rule of arXiv 2511.12635, with exact bounds.

    A process passes where the exact lower bound of recall clears the target fixed beforehand, the lower bound of MCC is
    above 0 and WMCC > 0. Among those that pass, the highest WMCC; if none passes, people screen.
    """
    candidates = []
    for name, c in confusions.items():
        shown = recall_interval(c, population, alpha, one_sided=True)
        plain = wmcc_interval(c, rng, weight=1.0, population=population, alpha=alpha).model_copy(update={"metric": "mcc"})
        weighted = wmcc_interval(c, rng, weight=weight, population=population, alpha=alpha)
        faults = []
        if shown.low is None or shown.low < target:
            faults.append(f"recall is not shown to reach {target:g}")
        if plain.low is None or plain.low <= 0:
            faults.append("MCC is not shown to be above 0")
        if weighted.value is None or weighted.value <= 0:
            faults.append("WMCC is not above 0")
        candidates.append(
            Candidate(name=name, recall=shown, mcc=plain, wmcc=weighted, passes=not faults, why="; ".join(faults) or "passes")
        )
    able = [candidate for candidate in candidates if candidate.passes]
    best = max(able, key=lambda candidate: candidate.wmcc.value or -2.0, default=None)
    note = f"{best.name} has the highest WMCC of {len(able)} that pass" if best else "none passes: people screen"
    return Deployment(chosen=best.name if best else None, candidates=tuple(candidates), note=note)
