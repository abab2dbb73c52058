"""The machine and the programs of a run, without names of people, folders, or values of the environment."""

import os
import platform
from functools import cache
from importlib.metadata import distributions
from typing import Any

from litcascade import __version__
from litcascade.pipeline.scoring import SEED
from litcascade.store import Store


def environment(store: Store) -> dict[str, Any]:
    """Python, platform, installed packages with versions, seeds, and the programs that earlier runs were made with."""
    seeds = store.rows(
        "select distinct 'splits', declared->>'seed' from split_versions "
        "union all select distinct 'audit', seed::text from audits "
        "union all select distinct 'labels for judges', seed::text from judge_samples order by 1, 2"
    )
    return {
        "litcascade": __version__,
        "python": platform.python_version(),
        "implementation": platform.python_implementation(),
        "system": platform.system(),
        "release": platform.release(),
        "machine": platform.machine(),
        "cores": os.cpu_count(),
        "packages": _packages(),
        "seeds": [["half-samples", str(SEED)], *[[what, seed] for what, seed in seeds if seed is not None]],
        "runs": [list(row) for row in store.rows("select run_id, at_time::text, code_version from runs order by seq")],
    }


@cache
def _packages() -> dict[str, str]:
    found = {str(one.metadata["Name"]): one.version for one in distributions() if one.metadata["Name"]}
    return dict(sorted(found.items(), key=lambda item: item[0].casefold()))
