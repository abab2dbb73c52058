"""Complement naive Bayes on TF-IDF (Rennie et al. 2003)."""

from typing import Any

from litcascade.corpora.baselines.base import Bools, Material, Scorer, baseline
from litcascade.corpora.baselines.terms import class_weights, learn
from litcascade.corpora.baselines.trained import on_tfidf


@baseline("complement_nb", "TF-IDF, complement naive Bayes, balanced classes", cut="half", learns=True)
def complement_nb(material: Material) -> Scorer:
    """Probabilities of complement naive Bayes (smoothing 1); without balanced weights few includes drown in the smoothing."""

    def fit(features: Any, labels: Bools, _seed: int) -> Any:
        model = learn("sklearn.naive_bayes").ComplementNB().fit(features, labels, sample_weight=class_weights(labels))
        return lambda rows: model.predict_proba(rows)[:, 1]

    return on_tfidf(material, fit)
