"""A two-dimensional map of records: TF-IDF of title and abstract, then UMAP where it is installed, else truncated SVD."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Literal, NamedTuple

from litcascade.corpora.sets.corpus import Corpus, Source
from litcascade.errors import InputError, MissingExtraError

Method = Literal["auto", "umap", "svd"]
FEATURES = 20_000
COMPONENTS = 50


class MapPoint(NamedTuple):
    """A record's place; `label` is `include`, `exclude` or `unlabelled`. Axes have no unit."""

    record_id: str
    x: float
    y: float
    label: str


@dataclass(frozen=True)
class RecordMap:
    """The points in the corpus's order and how they were made.

    `unplaced` counts the records that have neither title nor abstract and so no place, by label.
    """

    points: tuple[MapPoint, ...]
    method: str
    stage: str
    title: str
    axes: tuple[str, str]
    unplaced: Mapping[str, int]
    seed: int


def map_points(
    corpus: Corpus, seed: int = 0, *, stage: str | None = None, source: Source = "gold", method: Method = "auto"
) -> RecordMap:
    """Place every record that has a title or abstract; the same seed and library versions give the same map.

    `stage` names the labels to show (by default the last one that has labels). Needs the extra [learn]. Distances say
    something near by and little far away. Fewer than three records with text is an `InputError`.
    """
    stages = corpus.stages()
    if stage is not None and stage not in stages:
        raise InputError(f"the set '{corpus.name}' has no labels at stage '{stage}'; it has: {', '.join(stages) or 'none'}")
    shown = stage or (stages[-1] if stages else "")
    decisions = corpus.decisions(shown, source)
    texts = [(record.record_id, " ".join(part for part in (record.title, record.abstract) if part)) for record in corpus.records]
    placed = [(record_id, text) for record_id, text in texts if text]
    if len(placed) < 3:
        raise InputError(f"the set '{corpus.name}' has {len(placed)} record(s) with title or abstract; a map needs three")
    name, axes, places = _places([text for _, text in placed], seed, method)
    points = tuple(
        MapPoint(record_id, float(x), float(y), decisions.get(record_id, "unlabelled"))
        for (record_id, _), (x, y) in zip(placed, places, strict=True)
    )
    unplaced = Counter(decisions.get(record_id, "unlabelled") for record_id, text in texts if not text)
    return RecordMap(points, name, shown, _title(corpus), axes, dict(unplaced), seed)


def _title(corpus: Corpus) -> str:
    reviews = list(dict.fromkeys(corpus.review_of.values()))
    one = reviews[0] if len(reviews) == 1 and reviews[0] != corpus.name else None
    return f"{corpus.name}: {one}" if one else corpus.card.title


def _places(texts: list[str], seed: int, method: Method) -> tuple[str, tuple[str, str], Any]:
    try:
        from sklearn.decomposition import TruncatedSVD
        from sklearn.feature_extraction.text import TfidfVectorizer
    except ImportError:
        raise MissingExtraError("a map of records", "learn") from None
    rare = 2 if len(texts) > 100 else 1
    vectors = TfidfVectorizer(sublinear_tf=True, stop_words="english", min_df=rare, max_features=FEATURES)
    try:
        matrix = vectors.fit_transform(texts)
    except ValueError:
        raise InputError("no word is left to place the records by; their texts hold stop words only") from None
    chosen = _method(method)
    wanted = min(COMPONENTS if chosen == "umap" else 2, matrix.shape[1] - 1)
    if wanted < 2:
        raise InputError("the records share one word only; there is nothing to place them by")
    reduced = TruncatedSVD(n_components=wanted, random_state=seed).fit_transform(matrix)
    if chosen == "svd":
        return "TF-IDF, truncated SVD", ("first component of TF-IDF", "second component of TF-IDF"), reduced
    return "TF-IDF, truncated SVD to 50 components, UMAP", ("first UMAP axis", "second UMAP axis"), _umap(reduced, seed)


def _method(method: Method) -> Literal["umap", "svd"]:
    if method == "umap" and find_spec("umap") is None:
        raise InputError("UMAP is not installed; run: pip install umap-learn, or ask for the method svd")
    if method == "auto":
        return "umap" if find_spec("umap") is not None else "svd"
    return method


def _umap(vectors: Any, seed: int) -> Any:
    umap: Any = import_module("umap")
    neighbours = min(15, len(vectors) - 1)
    start = "spectral" if len(vectors) > 50 else "random"
    return umap.UMAP(
        n_components=2, n_neighbors=neighbours, metric="cosine", random_state=seed, n_jobs=1, init=start
    ).fit_transform(vectors)
