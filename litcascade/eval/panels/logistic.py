"""Ridge logistic regression over groups, by Newton's method, many fits on the same rows at once, in numpy alone.

The log-odds of a row x of group b are (shared + own_b) . x: what all groups have in common, and what group b adds. It is
one logistic regression over the columns x and (group x column), solved through its blocks.
"""

from dataclasses import dataclass

import numpy as np

from litcascade.eval.panels.counts import Bools, Floats

STEPS = 50
TOLERANCE = 1e-9


@dataclass(frozen=True, eq=False)
class Fits:
    """F fits: `shared` is F x p, `own` F x B x p (zeros for one group), and which of them converged."""

    shared: Floats
    own: Floats
    converged: Bools

    @property
    def by_group(self) -> Floats:
        """The coefficients of each group, F x B x p."""
        return self.shared[:, None, :] + self.own


@dataclass(frozen=True, eq=False)
class Problem:
    """Rows with counts: `rows` is B x U x p (a group with fewer rows is padded with totals of 0), the first column ones.

    `positives` and `totals` are F x B x U. `ridge` > 0 penalises every coefficient but the shared intercept.
    """

    rows: Floats
    positives: Floats
    totals: Floats
    ridge: float

    @property
    def grouped(self) -> bool:
        """Whether there is more than one group; with one, `own` would only repeat `shared`."""
        return len(self.rows) > 1

    def penalty(self) -> Floats:
        """The penalties of the shared coefficients: none on the intercept."""
        return np.where(np.arange(self.rows.shape[2]) == 0, 0.0, self.ridge)


def ridge_logistic(problem: Problem) -> Fits:
    """Maximise sum [y eta - n log(1 + e^eta)] - ridge / 2 (sum of squares but the shared intercept's) for F fits at once.

    The same optimum as scikit-learn's LogisticRegression with C = 1 / ridge on the dense columns. Newton steps (IRLS),
    halved where they would not gain. With both classes there the optimum is finite and single.
    """
    fits, groups, _ = problem.positives.shape
    width = problem.rows.shape[2]
    shared, own = np.zeros((fits, width)), np.zeros((fits, groups, width))
    value = _objective(problem, shared, own)
    converged = np.zeros(fits, dtype=bool)
    for _ in range(STEPS):
        to_shared, to_own, slope = _newton(problem, shared, own)
        shared, own, value = _halved(problem, (shared, own), (to_shared, to_own), value)
        converged = slope <= TOLERANCE * (1 + np.abs(value))
        if converged.all():
            break
    return Fits(shared, own, converged)


def probabilities(eta: Floats) -> Floats:
    """1 / (1 + e^-eta), without overflow."""
    return 0.5 * (1 + np.tanh(eta / 2))


def _eta(problem: Problem, shared: Floats, own: Floats) -> Floats:
    both: Floats = shared[:, None, :] + own
    eta: Floats = (problem.rows[None] @ both[:, :, :, None])[..., 0]
    return eta


def _objective(problem: Problem, shared: Floats, own: Floats) -> Floats:
    eta = _eta(problem, shared, own)
    fit = (problem.positives * eta - problem.totals * np.logaddexp(0, eta)).sum(axis=(1, 2))
    value: Floats = fit - 0.5 * (problem.penalty() * shared**2).sum(axis=1) - 0.5 * problem.ridge * (own**2).sum(axis=(1, 2))
    return value


def _newton(problem: Problem, shared: Floats, own: Floats) -> tuple[Floats, Floats, Floats]:
    """The steps of the shared and the own coefficients, and the gain they promise (gradient times step).

    With A_b = X_b' W X_b the Hessian is [[sum A_b + P, A_b], [A_b, A_b + ridge I]]; the own parts are eliminated.
    """
    p = probabilities(_eta(problem, shared, own))
    slope = ((problem.positives - problem.totals * p)[:, :, None, :] @ problem.rows[None])[:, :, 0, :]
    to_shared, to_own = slope.sum(axis=1) - problem.penalty() * shared, slope - problem.ridge * own
    weights = problem.totals * p * (1 - p)
    blocks = (problem.rows.transpose(0, 2, 1)[None] * weights[:, :, None, :]) @ problem.rows[None]
    left = blocks.sum(axis=1) + np.diag(problem.penalty() + 1e-10)
    if not problem.grouped:
        step = np.linalg.solve(left, to_shared[:, :, None])[:, :, 0]
        return step, np.zeros_like(own), (to_shared * step).sum(axis=1)
    width = problem.rows.shape[2]
    solved = np.linalg.solve(blocks + problem.ridge * np.eye(width), np.concatenate([blocks, to_own[..., None]], axis=3))
    left = left - (blocks @ solved[..., :width]).sum(axis=1)
    right = to_shared - (blocks @ solved[..., width:])[..., 0].sum(axis=1)
    step = np.linalg.solve(left, right[:, :, None])[:, :, 0]
    own_step = solved[..., width] - (solved[..., :width] @ step[:, None, :, None])[..., 0]
    return step, own_step, (to_shared * step).sum(axis=1) + (to_own * own_step).sum(axis=(1, 2))


def _halved(
    problem: Problem, at: tuple[Floats, Floats], step: tuple[Floats, Floats], value: Floats
) -> tuple[Floats, Floats, Floats]:
    """The new coefficients and their objective; each fit's step is halved until it does not lose, or else not taken."""
    size = np.ones(len(value))
    for _ in range(30):
        tried = at[0] + size[:, None] * step[0], at[1] + size[:, None, None] * step[1]
        here = _objective(problem, *tried)
        worse = here < value - 1e-12 * (1 + np.abs(value))
        if not worse.any():
            break
        size[worse] /= 2
    else:
        tried = np.where(worse[:, None], at[0], tried[0]), np.where(worse[:, None, None], at[1], tried[1])
        here = np.where(worse, value, here)
    return tried[0], tried[1], here
