"""All metrics, one file each; importing this package registers them."""

import importlib
import pkgutil

from litcascade.eval.metrics.base import METRICS, Measure, MetricSpec, caution_of, metric, parse_measure

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")

__all__ = ["METRICS", "Measure", "MetricSpec", "caution_of", "metric", "parse_measure"]
