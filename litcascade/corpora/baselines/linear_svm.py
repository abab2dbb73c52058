"""Linear support vector machine on TF-IDF."""

import warnings
from typing import Any

from scipy.special import expit

from litcascade.corpora.baselines.base import Bools, Material, Scorer, baseline
from litcascade.corpora.baselines.terms import learn
from litcascade.corpora.baselines.trained import on_tfidf


def fit_svm(features: Any, labels: Bools, seed: int, cost: float, weights: Any = None) -> Any:
    """A linear SVM with squared hinge loss; classes are balanced where no `weights` are given.

    A fit that stops at the limit of its steps is used as it is: its margins still rank.
    """
    maker = learn("sklearn.svm").LinearSVC
    model = maker(C=cost, class_weight="balanced" if weights is None else None, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", learn("sklearn.exceptions").ConvergenceWarning)
        return model.fit(features, labels, sample_weight=weights)


@baseline("linear_svm", "TF-IDF, linear SVM, balanced classes", cut="half", learns=True)
def linear_svm(material: Material) -> Scorer:
    """1 / (1 + e^-margin) of a linear SVM (C = 0.1): .5 is the boundary; a ranking, not a calibrated probability."""

    def fit(features: Any, labels: Bools, seed: int) -> Any:
        model = fit_svm(features, labels, seed, cost=0.1)
        return lambda rows: expit(model.decision_function(rows))

    return on_tfidf(material, fit)
