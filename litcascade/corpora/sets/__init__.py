"""Benchmark sets: one file a set, each with a card and a loader from a local folder; splits, overlap, statistics, maps."""

from litcascade.corpora.sets import (  # noqa: F401  (importing registers the sets)
    asreview_hosted,
    clef_tar,
    cohen2006,
    csmed,
    csmed_ft,
    evidence_inference,
    lassa,
    rct_numeric,
    scilitbench,
    synergy,
)
from litcascade.corpora.sets.corpus import (
    SETS,
    STAGES,
    AsideRow,
    BenchmarkSet,
    Card,
    CardFile,
    Corpus,
    GoldField,
    GoldLabel,
    Published,
    Review,
    Table,
)
from litcascade.corpora.sets.describing import Quartiles, Statistics, statistics
from litcascade.corpora.sets.drawing import map_svg
from litcascade.corpora.sets.fetching import FetchedFile, fetch_files
from litcascade.corpora.sets.overlapping import Overlap, Shared, overlap, split_overlaps
from litcascade.corpora.sets.placing import MapPoint, RecordMap, map_points
from litcascade.corpora.sets.splitting import Split, split_between, split_within
from litcascade.corpora.sets.synergy import fetch_texts

__all__ = [
    "SETS",
    "STAGES",
    "AsideRow",
    "BenchmarkSet",
    "Card",
    "CardFile",
    "Corpus",
    "FetchedFile",
    "GoldField",
    "GoldLabel",
    "MapPoint",
    "Overlap",
    "Published",
    "Quartiles",
    "RecordMap",
    "Review",
    "Shared",
    "Split",
    "Statistics",
    "Table",
    "fetch_files",
    "fetch_texts",
    "map_points",
    "map_svg",
    "overlap",
    "split_between",
    "split_overlaps",
    "split_within",
    "statistics",
]
