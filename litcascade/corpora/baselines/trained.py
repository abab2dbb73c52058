"""What the classifiers on TF-IDF share."""

from collections.abc import Callable
from typing import Any

import numpy as np

from litcascade.corpora.baselines.base import Bools, Floats, Ints, Material, Scorer
from litcascade.corpora.baselines.terms import tfidf

Fit = Callable[[Any, Bools, int], Callable[[Any], Floats]]


def on_tfidf(material: Material, fit: Fit) -> Scorer:
    """A scorer that fits on the TF-IDF of the training records, in terms that stand in two of them or more.

    `fit(features, labels, seed)` answers with a function from features to scores in [0, 1]. Without a usable term
    nothing can be told apart: every record is at .5, and so included.
    """

    def score(train: Ints, labels: Bools, held_out: Ints, rng: np.random.Generator) -> Floats:
        features = tfidf(material.terms, train, at_least=2)
        if not features.shape[1]:
            return np.full(len(held_out), 0.5)
        model = fit(features[train], labels, int(rng.integers(2**31)))
        return np.asarray(model(features[held_out]), dtype=np.float64)

    return score
