"""Readers of unknown quality: Dawid and Skene's model of their errors, fitted by EM without gold.

Source: Dawid, Skene 1979, Maximum likelihood estimation of observer error-rates using the EM algorithm. It supposes that
readers err independently given the true class. Models of one family do not; then the figures flatter them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy.optimize import linear_sum_assignment
from scipy.special import logsumexp

from litcascade.errors import InputError
from litcascade.eval.confusion import as_text
from litcascade.eval.panels.counts import Floats, Ints
from litcascade.eval.panels.rules import Weighted
from litcascade.eval.panels.votes import Votes
from litcascade.schemas import Frozen

ITERATIONS = 500
SMOOTHING = 0.5
Answers = npt.NDArray[np.int64]


class ReaderQuality(Frozen):
    """How a reader answers given the true class: rates[k][l] = P(says l | truth k); each row adds up to 1.

    With the classes (exclude, include): specificity = rates[0][0], sensitivity = rates[1][1].
    """

    reader: str
    answered: int
    rates: tuple[tuple[float, ...], ...]
    worse_than_chance: bool

    @property
    def specificity(self) -> float | None:
        """P(says exclude | exclude) of a two-class model, else None."""
        return self.rates[0][0] if len(self.rates) == 2 else None

    @property
    def sensitivity(self) -> float | None:
        """P(says include | include) of a two-class model, else None."""
        return self.rates[1][1] if len(self.rates) == 2 else None


@dataclass(frozen=True, eq=False)
class DawidSkene:
    """The fitted model: `posterior` is records x classes, `shares` the classes' shares. `note` says where it is odd."""

    record_ids: tuple[str, ...]
    classes: tuple[str, ...]
    posterior: Floats
    shares: tuple[float, ...]
    readers: tuple[ReaderQuality, ...]
    log_likelihood: float
    iterations: int
    converged: bool
    relabelled: bool
    note: str

    def frame(self) -> pl.DataFrame:
        """`record_id` and one column of posterior probability for each class."""
        columns = {name: self.posterior[:, k] for k, name in enumerate(self.classes)}
        return pl.DataFrame({"record_id": list(self.record_ids), **columns})


def dawid_skene(votes: Votes, *, smoothing: float = SMOOTHING, iterations: int = ITERATIONS) -> DawidSkene:
    """The two-class model over a panel's votes, classes (exclude, include); a missing reading is no answer."""
    answers = np.where(votes.heard, votes.include.astype(np.int64), -1)
    return _fit(votes.record_ids, votes.readers, ("exclude", "include"), answers, smoothing, iterations)


def dawid_skene_labels(
    table: pl.DataFrame, classes: Sequence[str] | None = None, *, smoothing: float = SMOOTHING, iterations: int = ITERATIONS
) -> DawidSkene:
    """The K-class model over a long frame `record_id`, `reader`, `label` (null: no answer); records by id.

    `classes` defaults to the labels there are, in the order of their names; another label is an `InputError`.
    """
    frame = as_text(table, ("record_id", "reader", "label"))
    names = tuple(classes or sorted(frame["label"].drop_nulls().unique()))
    odd = frame.filter(pl.col("label").is_not_null() & ~pl.col("label").is_in(names))
    if odd.height:
        raise InputError(f"record '{odd['record_id'][0]}' has label '{odd['label'][0]}', which is none of: {', '.join(names)}")
    if frame.select("record_id", "reader").is_duplicated().any():
        raise InputError("a reader labelled a record twice in the table")
    ids, readers = frame["record_id"].unique().sort(), frame["reader"].unique().sort()
    answers = np.full((len(ids), len(readers)), -1, dtype=np.int64)
    code = frame["label"].replace_strict(dict(zip(names, range(len(names)), strict=True)), default=-1, return_dtype=pl.Int64)
    at = ids.search_sorted(frame["record_id"]).to_numpy(), readers.search_sorted(frame["reader"]).to_numpy()
    answers[at] = code.fill_null(-1).to_numpy()
    return _fit(tuple(ids), tuple(readers), names, answers, smoothing, iterations)


def _fit(
    ids: tuple[str, ...], readers: tuple[str, ...], classes: tuple[str, ...], answers: Answers, smoothing: float, most: int
) -> DawidSkene:
    _check(ids, readers, classes, answers, smoothing)
    patterns, row, counts = np.unique(answers, axis=0, return_inverse=True, return_counts=True)
    said = (patterns[:, :, None] == np.arange(len(classes))).astype(float)
    weight = counts.astype(float)
    posterior = said.sum(axis=1)
    posterior /= np.maximum(posterior.sum(axis=1, keepdims=True), 1)
    posterior[patterns.max(axis=1) < 0] = 1 / len(classes)
    value, converged, done = -np.inf, False, 0
    while done < most and not converged:
        done += 1
        shares, rates = maximise(posterior, said, weight, smoothing)
        posterior, likelihood = expect(shares, rates, said, weight)
        now = likelihood + smoothing * float(_log(rates).sum() + _log(shares).sum()) if smoothing else likelihood
        converged = now - value < 1e-9 * (1 + abs(now))
        value = now
    order = _anchored(rates, said, weight)
    moved = order.tolist() != list(range(len(classes)))
    shares, rates, posterior = shares[order], rates[:, order], posterior[:, order]
    quality = _qualities(readers, rates, answers)
    note = _note(converged, most, moved, quality)
    return DawidSkene(
        ids, classes, posterior[row.ravel()], tuple(map(float, shares)), quality, likelihood, done, converged, moved, note
    )


def _check(ids: tuple[str, ...], readers: tuple[str, ...], classes: tuple[str, ...], answers: Answers, smoothing: float) -> None:
    if len(readers) < 3:
        raise InputError(f"the quality of readers is not identified without gold from fewer than 3 of them (got {len(readers)})")
    if len(classes) < 2:
        raise InputError("the readers' answers are all the same class, so nothing can be said of their errors")
    if smoothing < 0:
        raise InputError(f"smoothing is 0 or more (got {smoothing:g})")
    silent = [name for name, heard in zip(readers, (answers >= 0).sum(axis=0).tolist(), strict=True) if not heard]
    if silent or not ids:
        raise InputError(f"no answer at all from: {', '.join(silent) or 'any reader'}")


def maximise(posterior: Floats, said: Floats, weight: Floats, smoothing: float) -> tuple[Floats, Floats]:
    """M step: shares of the K classes, and rates M x K x K, from weighted patterns; `smoothing` is added to each cell."""
    held = posterior * weight[:, None]
    shares = held.sum(axis=0) + smoothing
    cells = np.einsum("uk,uml->mkl", held, said) + smoothing
    totals = cells.sum(axis=2, keepdims=True)
    rates = np.divide(cells, totals, out=np.full(cells.shape, 1 / cells.shape[2]), where=totals > 0)
    return shares / shares.sum(), rates


def expect(shares: Floats, rates: Floats, said: Floats, weight: Floats) -> tuple[Floats, float]:
    """E step in log space: the posterior of each pattern (U x K), and the log-likelihood of all records."""
    logs = np.where(said[:, :, None, :] > 0, _log(rates)[None], 0.0).sum(axis=(1, 3)) + _log(shares)
    whole = logsumexp(logs, axis=1, keepdims=True)
    return np.exp(logs - whole), float((whole[:, 0] * weight).sum())


def _log(values: Floats) -> Floats:
    return np.asarray(np.log(np.maximum(values, 1e-300)))


def _anchored(rates: Floats, said: Floats, weight: Floats) -> Ints:
    """The order of the fitted classes in which readers, weighed by their answers, say most often what is true.

    The likelihood is the same under any renaming of the classes; this names them as the readers do.
    """
    answered = np.einsum("u,uml->m", weight, said)
    mean = np.einsum("m,mkl->kl", answered / answered.sum(), rates)
    fitted, named = linear_sum_assignment(-mean)
    return np.asarray(fitted[np.argsort(named)], dtype=np.int64)


def _qualities(readers: tuple[str, ...], rates: Floats, answers: Answers) -> tuple[ReaderQuality, ...]:
    heard = (answers >= 0).sum(axis=0)
    chance = 1.0
    return tuple(
        ReaderQuality(
            reader=name,
            answered=int(heard[m]),
            rates=tuple(tuple(float(x) for x in one) for one in rates[m]),
            worse_than_chance=bool(np.trace(rates[m]) < chance),
        )
        for m, name in enumerate(readers)
    )


def _note(converged: bool, most: int, moved: bool, quality: tuple[ReaderQuality, ...]) -> str:
    notes = ["converged" if converged else f"did not converge in {most} iterations: do not use the figures"]
    if moved:
        notes.append("the fitted classes were renamed as the readers name them")
    poor = [one.reader for one in quality if one.worse_than_chance]
    if poor:
        notes.append(f"worse than chance: {', '.join(poor)}")
    return "; ".join(notes)


def weighted_rule(model: DawidSkene, probability: float = 0.5) -> Weighted:
    """The weighted vote that includes where the two-class posterior reaches `probability`, as if all readers answered.

    Weight of a reader: log[se / (1 - sp)] - log[(1 - se) / sp]; the constant parts go into the threshold. A model that did
    not converge, or one of more classes, is an `InputError`.
    """
    if not model.converged or len(model.classes) != 2:
        raise InputError("a weighted vote needs a two-class model that converged")
    if not 0 < probability < 1:
        raise InputError(f"the probability to include at lies between 0 and 1 (got {probability:g})")
    rates = np.clip(np.array([one.rates for one in model.readers]), 1e-12, 1.0)
    yes, no = np.log(rates[:, 1, 1] / rates[:, 0, 1]), np.log(rates[:, 1, 0] / rates[:, 0, 0])
    prior = np.log(max(model.shares[1], 1e-12) / max(model.shares[0], 1e-12))
    cut = np.log(probability / (1 - probability)) - prior - no.sum()
    return Weighted(readers=tuple(one.reader for one in model.readers), weights=tuple((yes - no).tolist()), threshold=float(cut))
