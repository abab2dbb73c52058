"""Words as numbers: term counts, TF-IDF weights that rest on the training records only, class weights."""

import importlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from litcascade.errors import MissingExtraError


def learn(module: str) -> Any:
    """A module of the extra [learn], imported on first use; a `MissingExtraError` with the command where it is absent."""
    try:
        return importlib.import_module(module)
    except ImportError:
        raise MissingExtraError(f"a baseline that uses {module.partition('.')[0]}", "learn") from None


def count_terms(texts: Sequence[str]) -> Any:
    """Counts of words and pairs of words: a sparse array texts x terms.

    A word is two or more letters or digits, in lower case. Texts without any word give an array without columns.
    """
    counter = learn("sklearn.feature_extraction.text").CountVectorizer(ngram_range=(1, 2))
    try:
        return counter.fit_transform(texts)
    except ValueError:  # no text holds a word
        return sparse.csr_matrix((len(texts), 0))


def tfidf(counts: Any, rows: npt.NDArray[np.int64] | None = None, *, at_least: int = 1, at_most: float = 1.0) -> Any:
    """TF-IDF of all texts, with the terms and their weights taken from `rows` alone (all rows where None).

    (1 + ln tf)(1 + ln((1 + n) / (1 + df))), each text scaled to length 1 (Salton, Buckley 1988, with scikit-learn's
    smoothing). Kept are terms that stand in `at_least` of the rows and in a share of at most `at_most`.
    """
    seen = counts if rows is None else counts[rows]
    df = np.bincount(seen.indices, minlength=counts.shape[1])
    kept = np.flatnonzero((df >= at_least) & (df <= at_most * seen.shape[0]))
    if not len(kept):
        return sparse.csr_matrix((counts.shape[0], 0))
    weigher = learn("sklearn.feature_extraction.text").TfidfTransformer(sublinear_tf=True)
    weigher.fit(seen[:, kept])
    return weigher.transform(counts[:, kept])


def class_weights(labels: npt.NDArray[np.bool_], ratio: float = 1.0) -> npt.NDArray[np.float64]:
    """A weight for each record, 1 on average, so that all includes weigh `ratio` times what all excludes do.

    Both classes must be there.
    """
    includes = int(labels.sum())
    weights = np.where(labels, 1.0, includes / (ratio * (len(labels) - includes)))
    return np.asarray(weights * (len(labels) / weights.sum()), dtype=np.float64)
