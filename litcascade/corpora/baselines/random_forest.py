"""Random forest on TF-IDF (Breiman 2001)."""

from typing import Any

from litcascade.corpora.baselines.base import Bools, Material, Scorer, baseline
from litcascade.corpora.baselines.terms import learn
from litcascade.corpora.baselines.trained import on_tfidf


@baseline("random_forest", "TF-IDF, random forest of 200 small trees, balanced classes", cut="half", learns=True)
def random_forest(material: Material) -> Scorer:
    """Mean leaf share of 200 trees of at most 8 leaves with balanced class weights.

    Small trees: with a few dozen includes, trees grown to the end give next to every record a share below .5.
    """

    def fit(features: Any, labels: Bools, seed: int) -> Any:
        maker = learn("sklearn.ensemble").RandomForestClassifier
        model = maker(200, class_weight="balanced", max_leaf_nodes=8, random_state=seed, n_jobs=1).fit(features, labels)
        return lambda rows: model.predict_proba(rows)[:, 1].clip(0.0, 1.0)

    return on_tfidf(material, fit)
