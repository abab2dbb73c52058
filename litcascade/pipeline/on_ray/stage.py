"""A stage worked by a Ray cluster: its pending records cut into shards, Ray Data over them, and what comes back merged."""

import asyncio
import contextlib
import re
import threading
import time
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from litcascade.backends import Backend
from litcascade.errors import BackendError, InputError
from litcascade.pipeline.binding import identify, names_of
from litcascade.pipeline.executor import Spent
from litcascade.pipeline.on_ray.box import Box
from litcascade.pipeline.on_ray.cluster import Crew, RayOptions, crew
from litcascade.pipeline.on_ray.leftover import BY, left_out, mark, mendable, refusals, set_aside
from litcascade.pipeline.on_ray.worker import ShardWorker, plainly, tell
from litcascade.pipeline.review import Review
from litcascade.pipeline.shards.cutting import MOST_SHARDS, RECORDS, REPORTS, Cut, cut_job
from litcascade.pipeline.shards.job import Job, JobFolder, Receipt
from litcascade.pipeline.shards.merging import Merged, merge_job
from litcascade.pipeline.spreading import StageTask
from litcascade.pipeline.subjects import pending
from litcascade.schemas import ModelRef, ModelSpec, Protocol
from litcascade.schemas.protocol import Budget
from litcascade.store.views import NEEDS_TEXT

EVERY = 0.5
PATIENCE = 30.0  # seconds that workers have to end when they are told to
LEAST, LEAST_REPORTS = 64, 8  # records a shard holds at least where the program chooses: by abstracts, by reports
SHARDS_A_WORKER = 4
SHOWN = 5
Row = dict[str, Any]


class RaySpread:
    """Works the stages of a run on a cluster that is joined already (`ray` is the package)."""

    def __init__(self, ray: Any, options: RayOptions) -> None:
        self.ray = ray
        self.options = options

    async def identify(self, review: Review, backends: Mapping[str, Backend]) -> dict[str, ModelRef]:
        """Engines inside workers are asked on a node that could hold one, all others from here."""
        declared = review.protocol.models
        here = {name: backend for name, backend in backends.items() if declared[name].backend != "vllm"}
        models = await identify(review.protocol, here)
        for name in backends.keys() - here.keys():
            spec = declared[name]
            size = crew(self.ray.nodes(), [spec], self.options)
            remote = self.ray.remote(tell).options(num_cpus=size.cpus, num_gpus=size.gpus)
            try:
                known, engine, revision = await remote.remote(name, spec.model_dump_json(), str(review.folder.resolve()))
            except Exception as error:  # noqa: BLE001  (what a node lacks, or did not survive)
                raise BackendError(
                    f"model '{name}' could not be asked who it is on a node of the Ray cluster: {fault_of(error)}", fatal=True
                ) from None
            if not known:
                raise BackendError(f"{engine} (on a node of the Ray cluster)", fatal=True)
            models[name] = ModelRef(name=spec.model, revision=revision, engine=engine)
        return {name: models[name] for name in backends}

    async def work(self, task: StageTask) -> None:
        """Cut, work, and merge shard by shard; a shard that fails costs no other, and its records stay pending.

        Where shards used their shares of the budget up and the run has some left, what is pending is cut once more.
        """
        specs = models_of(task.review.protocol, task.stage)
        records = task.pending
        while records:
            size = crew(self.ray.nodes(), specs, self.options)
            wanted = self.options.shards or shards_for(records, size.least, task.stage in NEEDS_TEXT)
            shards = bounded(wanted, records, left_of(task.review.protocol.budget, task.spent)["calls"])
            name = f"{BY}-{task.stage}-{uuid.uuid4().hex[:8]}"
            folder = cut_job(task.review, task.store, task.models, Cut(task.stage, shards, None, name, False, BY, task.run_id))
            stage = _Stage(self.ray, task, folder, size)
            try:
                await stage.go()
            finally:
                stage.close()
            if not stage.short:
                return
            left = len(pending(task.store, task.stage))
            if left == records and task.spent.calls == stage.before.calls:
                task.stop.set("budget", stage.short)
                return
            records = left


def bounded(shards: int, records: int, calls: float | None) -> int:
    """So many shards, but none without a record, nor without a call of what the budget leaves."""
    return max(1, min(shards, records, MOST_SHARDS if calls is None else int(calls)))


def models_of(protocol: Protocol, stage: str) -> list[ModelSpec]:
    """The declared models that a stage asks, each once."""
    spec = next(spec for name, spec in protocol.stages.items() if name == stage)
    used = dict.fromkeys(protocol.readers[name].model for name in names_of(spec))
    return [protocol.models[name] for name in used if name]


def shards_for(records: int, workers: int, reports: bool) -> int:
    """About four shards a worker, so that a slow one holds up little, none of them very small or very large."""
    least, most = (LEAST_REPORTS, REPORTS) if reports else (LEAST, RECORDS)
    each = min(most, max(least, -(-records // (SHARDS_A_WORKER * workers))))
    return min(MOST_SHARDS, -(-records // each))


def left_of(budget: Budget, spent: Spent) -> dict[str, float | None]:
    """What a run may still use of a budget, by the budget's names; None where it has no limit."""

    def left(limit: float | None, used: float) -> float | None:
        return None if limit is None else max(0, limit - used)

    minutes = (time.monotonic() - spent.started) / 60
    used = {"calls": spent.calls, "tokens": spent.tokens, "minutes": minutes}
    return {name: left(getattr(budget, name), value) for name, value in used.items()}


@dataclass
class _Came:
    """Rows of shards as they come, and what ended the data set, if it did not end by itself."""

    rows: dict[int, Row] = field(default_factory=dict)
    fault: str = ""
    ended: threading.Event = field(default_factory=threading.Event)


def fault_of(error: Exception) -> str:
    """Why Ray gave the whole data set up, in one line; what a node lacks is found in the depth of Ray's own words."""
    words = str(error)
    absent = re.search(r"No module named '[\w.]+'", words)
    if absent:
        return f"a node lacks a package ({absent[0]}): install this litcascade there, with the same extras"
    return plainly(error)


class _Stage:
    def __init__(self, ray: Any, task: StageTask, folder: JobFolder, size: Crew) -> None:
        self.ray = ray
        self.task = task
        self.folder = folder
        self.job: Job = folder.read()
        self.size = size
        self.came = _Came()
        self.receipts: dict[int, Receipt] = {}
        self.done: set[int] = set()
        self.decided = 0
        self.said: set[str] = set()
        self.short = ""  # a shard used its share of the budget up, and the run has some left: in words
        self.before = Spent(**{**vars(task.spent)})
        self.box = _post_box(ray, folder)

    async def go(self) -> None:
        """Start the data set in a thread, follow the receipts, merge what is done; then all that was posted."""
        if not await self.box.there.remote():
            raise InputError("the Ray cluster gave this run no place on its own machine; start the run on a node of the cluster")
        threading.Thread(target=self._iterate, args=(self._rows(),), name="ray-data", daemon=True).start()
        told_at: float | None = None
        while not self.came.ended.is_set():
            await asyncio.sleep(EVERY)
            self._follow()
            if self.task.stop.status:
                told_at = told_at or time.monotonic()
                self.box.stop.remote("stopped: the run ends")  # each time: a box that Ray started again knows nothing of it
            if told_at is not None and time.monotonic() - told_at > PATIENCE:
                self.task.observer.say("some workers did not end in time; what they posted is kept")
                break
        await self._shut()
        self._follow()
        merged = self._merge(range(len(self.job.shards)))
        self._say([*set_aside(self.folder), *left_out(merged)])
        if mendable(self.folder, merged):
            self._say([f"{self.folder.path} stays unmerged until they can be read"])
        else:
            mark(self.folder)
        self._settle()
        self._judge()

    async def _shut(self) -> None:
        """Let the box take nothing more, so that all it has taken is in the last merge."""
        with contextlib.suppress(Exception):  # a box that is gone takes nothing either
            await asyncio.wait_for(self.box.shut.remote(), PATIENCE)
        self.close()

    def close(self) -> None:
        """Let go of the box; workers that still hold on to it fail at their next word with it."""
        self.ray.kill(self.box)

    def _rows(self) -> Any:
        """The data set: the shards, mapped to one row each by a pool of workers."""
        data = self.ray.data
        context = data.DataContext.get_current().copy()
        context.enable_progress_bars = False
        context.print_on_execution_start = False
        context.max_errored_blocks = -1  # a shard that Ray gives up has no row
        context.autoscaling_config.actor_pool_util_upscaling_threshold = 1.0  # one shard at a time keeps a worker full
        budget = left_of(self.task.review.protocol.budget, self.task.spent)
        count = len(self.job.shards)
        pool = data.ActorPoolStrategy(
            min_size=min(self.size.least, count), max_size=min(self.size.most, count), max_tasks_in_flight_per_actor=1
        )
        with data.DataContext.current(context):
            shards = data.from_items([{"shard": number} for number in range(count)], override_num_blocks=count)
            return shards.map_batches(
                ShardWorker,
                fn_constructor_args=(self.box, budget, self.task.probed),
                batch_size=1,
                num_cpus=self.size.cpus,
                num_gpus=self.size.gpus,
                compute=pool,
            )

    def _iterate(self, rows: Any) -> None:
        try:
            for row in rows.iter_rows():
                self.came.rows[int(row["shard"])] = row
        except Exception as error:  # noqa: BLE001  (told when the stage is judged)
            self.came.fault = fault_of(error)
        finally:
            self.came.ended.set()

    def _follow(self) -> None:
        """Progress and what is spent, by the receipts; shards that ended are merged."""
        for number in set(range(len(self.job.shards))) - self.done:
            with contextlib.suppress(InputError):
                receipt = self.folder.read_receipt(number)
                if receipt is not None:
                    self.receipts[number] = receipt
        receipts = list(self.receipts.values())
        spent, before = self.task.spent, self.before
        spent.calls = before.calls + sum(receipt.calls for receipt in receipts)
        spent.from_store = before.from_store + sum(receipt.from_store for receipt in receipts)
        spent.prompt_tokens = before.prompt_tokens + sum(receipt.prompt_tokens for receipt in receipts)
        spent.completion_tokens = before.completion_tokens + sum(receipt.completion_tokens for receipt in receipts)
        decided = sum(receipt.decided for receipt in receipts)
        if decided > self.decided:
            self.task.on_tick(decided - self.decided)
            self.decided = decided
        over = spent.over(self.task.review.protocol.budget)
        if over:
            self.task.stop.set("budget", over)
        ended = [receipt.shard for receipt in receipts if receipt.status == "complete" and receipt.shard not in self.done]
        if ended:
            self._merge(ended)

    def _merge(self, shards: Sequence[int]) -> Merged:
        merged = merge_job(self.task.review, self.task.store, self.folder, only=shards)
        self.done.update(shards)
        self._say(refusals(self.folder, merged))
        return merged

    def _say(self, lines: Iterable[str]) -> None:
        """Say what was not said before."""
        for line in lines:
            if line not in self.said:
                self.said.add(line)
                self.task.observer.say(line)

    def _settle(self) -> None:
        """What was spent, as the store now has it: receipts of lost workers may be behind, and say nothing of cached tokens."""
        told = self.task.store.rows(
            "select count(*), sum(prompt_tokens), sum(cached_tokens), sum(completion_tokens) from calls where run_id = ?",
            [self.task.run_id],
        )[0]
        spent = self.task.spent
        spent.calls, spent.prompt_tokens, spent.cached_tokens, spent.completion_tokens = (int(value or 0) for value in told)
        spent.failures = int(self.task.store.value("select count(*) from failures where run_id = ?", [self.task.run_id]))

    def _judge(self) -> None:
        """Say why shards are not complete; where not one could be begun, the run ends with the reason."""
        rows = dict(self.came.rows)  # a thread that was not waited for may still write
        said = dict.fromkeys(line for row in rows.values() for line in row["said"].splitlines())
        stopped = self.task.stop.status is not None
        faulty = ("failed",) if stopped else ("failed", "incomplete")
        faults = {number: f"{row['words']} (on {row['host']})" for number, row in rows.items() if row["status"] in faulty}
        lost = self.came.fault or "Ray gave its worker up"
        faults |= {number: lost for number in range(0 if stopped else len(self.job.shards)) if number not in rows}
        for line in [*said, *(f"shard {number}: {words}" for number, words in sorted(faults.items())[:SHOWN])]:
            self.task.observer.say(line)
        if len(faults) > SHOWN:
            self.task.observer.say(f"and {len(faults) - SHOWN} more shard(s) that are not complete")
        spent = [row["words"] for row in rows.values() if row["status"] == "budget"]
        over = self.task.spent.over(self.task.review.protocol.budget)
        if spent and over:
            self.task.stop.set("budget", over)
        elif spent and not stopped:
            self.short = spent[0]
        elif faults and not self.decided:
            self.task.stop.set("backend", faults[min(faults)])


def _post_box(ray: Any, folder: JobFolder) -> Any:
    """The job's box, on the machine of this run."""
    node = ray.get_runtime_context().get_node_id()
    strategy = ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(node_id=node, soft=False)
    options = {"num_cpus": 0, "max_restarts": -1, "max_task_retries": -1, "scheduling_strategy": strategy}
    return ray.remote(Box).options(**options).remote(str(folder.path.resolve()))
