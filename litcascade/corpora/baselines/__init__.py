"""Baselines without a language model: rankings, classifiers under cross-validation, chance, and active learning.

One file adds one baseline; importing this package registers them. Heavy libraries are imported on first use.
"""

import importlib
import pkgutil

from litcascade.corpora.baselines.base import BASELINES, Baseline, LabelledSet, Material, Scorer, baseline, labelled_set
from litcascade.corpora.baselines.embedding import load_embedder
from litcascade.corpora.baselines.results import MEASURES, figures, repeat_frame, verdicts
from litcascade.corpora.baselines.run import Outcome, Settings, run_baseline, run_baselines
from litcascade.corpora.baselines.simulation import ORDER_MEASURES, Simulation, order_figures, simulate

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")

__all__ = [
    "BASELINES",
    "MEASURES",
    "ORDER_MEASURES",
    "Baseline",
    "LabelledSet",
    "Material",
    "Outcome",
    "Scorer",
    "Settings",
    "Simulation",
    "baseline",
    "figures",
    "labelled_set",
    "load_embedder",
    "order_figures",
    "repeat_frame",
    "run_baseline",
    "run_baselines",
    "simulate",
    "verdicts",
]
