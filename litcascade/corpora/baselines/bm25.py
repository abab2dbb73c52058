"""BM25 ranking of the records by the criteria."""

import re

import numpy as np

from litcascade.corpora.baselines.base import Material, Scorer, baseline, fixed
from litcascade.corpora.baselines.terms import learn

_WORD = re.compile(r"\w\w+")


@baseline("bm25", "BM25 of title and abstract, with the criteria as the query", cut="recall", reads_criteria=True)
def bm25(material: Material) -> Scorer:
    """BM25 (Robertson, Zaragoza 2009; k1 = 1.5, b = 0.75, Lucene's idf) divided by the highest score of the set.

    Words of two or more letters or digits, no stemming, no stop words; a word counts as often as it stands in the
    criteria. Where no criterion's word stands in any text every score is 0.
    """
    texts = [_WORD.findall(text.lower()) for text in material.texts]
    known = {word for text in texts for word in text}
    query = [word for word in _WORD.findall(material.criteria.lower()) if word in known]
    found = np.zeros(len(texts))
    if query:
        index = learn("bm25s").BM25(method="lucene", k1=1.5, b=0.75)
        index.index(texts, show_progress=False)
        found = np.asarray(index.get_scores(query), dtype=np.float64)
        found /= found.max()

    return fixed(found)
