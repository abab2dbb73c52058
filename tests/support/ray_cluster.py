"""A real Ray cluster on this machine: a head that works nothing, and two nodes of one CPU each."""

import asyncio
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from litcascade.pipeline.observing import Observer
from litcascade.pipeline.on_ray.cluster import RayOptions, import_ray, joined
from litcascade.pipeline.on_ray.stage import RaySpread
from litcascade.pipeline.run import Outcome, run_review
from tests.support.reviews import ReviewFolder

STORE = 80 * 2**20  # bytes of the object store of a node


def missing() -> str | None:
    """What the tests need and is not here."""
    absent = [name for name in ("ray", "pyarrow", "pandas") if find_spec(name) is None]
    return f"{absent[0]} is not installed (pip install 'litcascade[ray]')" if absent else None


class RayCluster:
    """Starts the nodes on entry and stops them on exit; a worker node can be killed, and is replaced by `whole`."""

    def __init__(self) -> None:
        self.ray: Any = import_ray()
        self.nodes: list[Any] = []

    def __enter__(self) -> "RayCluster":
        head = {"num_cpus": 0, "object_store_memory": STORE, "include_dashboard": False}
        self._cluster = import_module("ray.cluster_utils").Cluster(initialize_head=True, head_node_args=head)
        self.address: str = self._cluster.address
        self.whole()
        self._joined = joined(self.address)
        self._joined.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._joined.__exit__(None, None, None)
        self._cluster.shutdown()

    def whole(self) -> None:
        """Start worker nodes until there are two."""
        while len(self.nodes) < 2:
            self.nodes.append(self._cluster.add_node(wait=False, num_cpus=1, object_store_memory=STORE))
        self._cluster.wait_for_nodes(180)

    def kill_a_node(self) -> None:
        """End a worker node and its processes with SIGKILL."""
        self._cluster.remove_node(self.nodes.pop(), allow_graceful=False)

    def run(self, folder: ReviewFolder, observer: Observer | None = None, *, probed: bool = False, **options: Any) -> Outcome:
        """Run a review over this cluster, in this process."""
        review = folder.review
        spread = RaySpread(self.ray, RayOptions(**options))
        with review.open() as store:
            return asyncio.run(run_review(review, store, observer=observer, probed=probed, spread=spread))
