"""The two baselines that look at nothing: include all, and chance."""

import numpy as np

from litcascade.corpora.baselines.base import Bools, Floats, Ints, Material, Scorer, baseline, fixed


@baseline("include_all", "includes every record", cut="half")
def include_all(material: Material) -> Scorer:
    """A score of 1 for every record."""
    return fixed(np.ones(len(material.texts)))


@baseline("random", "a score by chance", cut="half")
def random(material: Material) -> Scorer:
    """Scores drawn evenly from [0, 1): half of the records are included."""
    texts = len(material.texts)

    def score(_train: Ints, _labels: Bools, held_out: Ints, rng: np.random.Generator) -> Floats:
        return rng.random(texts)[held_out]

    return score
