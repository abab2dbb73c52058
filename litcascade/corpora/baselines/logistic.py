"""Logistic regression on TF-IDF."""

from typing import Any

from litcascade.corpora.baselines.base import Bools, Material, Scorer, baseline
from litcascade.corpora.baselines.terms import learn
from litcascade.corpora.baselines.trained import on_tfidf


@baseline("logistic", "TF-IDF, logistic regression, balanced classes", cut="half", learns=True)
def logistic(material: Material) -> Scorer:
    """Probabilities of an L2 logistic regression (C = 1) with balanced class weights, so .5 is where classes balance."""

    def fit(features: Any, labels: Bools, seed: int) -> Any:
        maker = learn("sklearn.linear_model").LogisticRegression
        model = maker(class_weight="balanced", solver="liblinear", random_state=seed).fit(features, labels)
        return lambda rows: model.predict_proba(rows)[:, 1]

    return on_tfidf(material, fit)
