"""The cells of a grid as stages that can be run: readers with their examples, bound to real models."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import polars as pl

from litcascade.errors import InputError
from litcascade.eval.panels.splits import rank_by_hash
from litcascade.pipeline.binding import bind_reader, fingerprint
from litcascade.pipeline.examples import require_no_leak
from litcascade.pipeline.review import Review, load_prompt
from litcascade.schemas import ModelRef, ReaderSpec, StageSpec
from litcascade.schemas.bench import BenchSpec, Cell
from litcascade.schemas.protocol import Stages
from litcascade.stages import STAGE_CLASSES, Stage
from litcascade.stages.words import contradicts
from litcascade.store import Store, now


@dataclass(frozen=True)
class BoundCell:
    """A cell ready to run; its readings are stored under the fingerprint, which no stage of a run ever has."""

    cell: Cell
    spec: ReaderSpec
    stage: Stage
    fingerprint: str


def reader_specs(bench: BenchSpec, store: Store, splits: pl.DataFrame) -> dict[str, tuple[Cell, ReaderSpec]]:
    """Every cell's reader by name, with the ids of its examples; too few examples to draw from is an `InputError`."""
    wrong = contradicts(*bench.labels)
    if wrong is not None:
        raise InputError(f"[bench] uses '{wrong}' as a label for what the word does not mean; choose other labels")
    pool = _pool(bench, store, splits)
    found = {}
    for cell in bench.cells():
        examples = _draw(bench, cell, pool)
        require_no_leak(store, bench.stage, examples, few_shot_only=True)
        seed = bench.seed + cell.repeat if bench.temperature > 0 else None
        found[cell.name] = (
            cell,
            ReaderSpec(
                model=cell.model, prompt=cell.prompt, style=cell.style, labels=bench.labels, shots=examples,
                rationales=cell.rationales, temperature=bench.temperature, seed=seed, max_tokens=bench.max_tokens,
            ),
        )  # fmt: skip
    return found


def _pool(bench: BenchSpec, store: Store, splits: pl.DataFrame) -> dict[str, list[str]]:
    """Records that examples are drawn from, by gold, in the order of their ids."""
    ids = splits.filter(pl.col("split") == "few_shot")["record_id"].to_list()
    rows = store.rows(
        "select g.decision, g.record_id, w.record_id is not null from current_gold g left join current_rationales w "
        "on w.record_id = g.record_id and w.stage = g.stage and coalesce(w.decision, g.decision) = g.decision "
        "where g.stage = ? and g.record_id in (select unnest(?::text[])) order by g.record_id",
        [bench.stage, ids],
    )
    pool: dict[str, list[str]] = {f"{side}{why}": [] for side in ("include", "exclude") for why in ("", " with a rationale")}
    for decision, record_id, has_why in rows:
        pool[decision].append(record_id)
        if has_why:
            pool[f"{decision} with a rationale"].append(record_id)
    return pool


def _draw(bench: BenchSpec, cell: Cell, pool: dict[str, list[str]]) -> tuple[str, ...]:
    """Examples by the hash of seed, repeat and id: the same for every model and prompt; an odd one out is an include."""
    if not cell.shots or cell.positives is None:
        return ()
    includes = -int(-cell.shots * cell.positives // 1)
    wanted = {"include": includes, "exclude": cell.shots - includes}
    drawn: list[str] = []
    for side, count in wanted.items():
        kind = side + (" with a rationale" if cell.rationales else "")
        have = pool[kind]
        if count > len(have):
            raise InputError(
                f"cell '{cell.name}' needs {count} example(s) labelled {kind}, but the few-shot split has {len(have)}; make it "
                "larger in [bench.splits]" + (" or import rationales for its records" if cell.rationales else "")
            )
        drawn += [have[i] for i in rank_by_hash(have, bench.seed * 1000 + cell.repeat)[:count]]
    return tuple(drawn[i] for i in rank_by_hash(drawn, bench.seed * 1000 + cell.repeat))


def bind_cells(
    review: Review, bench: BenchSpec, store: Store, specs: Mapping[str, tuple[Cell, ReaderSpec]], models: Mapping[str, ModelRef]
) -> list[BoundCell]:
    """Every cell as a stage with one reader, in the order of the grid."""
    prompts = {name: load_prompt(bench.stage, spec, review.folder) for name, (_, spec) in specs.items()}
    found = []
    for name, (cell, spec) in specs.items():
        stage_spec = StageSpec(readers=(name,), refiner=bench.refiner)
        readers = {**review.protocol.readers, name: spec}
        protocol = review.protocol.model_copy(
            update={"readers": readers, "stages": Stages(**{bench.stage: stage_spec}), "bench": None}
        )
        alone = replace(review, protocol=protocol, prompts={(bench.stage, name): prompts[name]})
        names = [name, *([bench.refiner] if bench.refiner else [])]
        bound = {reader: bind_reader(alone, bench.stage, reader, models, store) for reader in names}
        stage = STAGE_CLASSES.get(bench.stage)(protocol, stage_spec, bound)
        mark = fingerprint(stage, stage_spec, protocol.criteria_hash(bench.stage), "bench")
        found.append(BoundCell(cell, spec, stage, f"bench:{mark}"))
    return found


def store_cells(store: Store, review: Review, bench: BenchSpec, version: str, cells: list[BoundCell]) -> None:
    """Write down every cell once, with what it rests on."""
    known = {row[0] for row in store.rows("select fingerprint from bench_cells")}
    rows = []
    for item in (one for one in cells if one.fingerprint not in known):
        model = item.stage.readers[item.cell.name].model
        declared = review.protocol.models[item.cell.model]
        assert model is not None
        rows.append(
            {
                "fingerprint": item.fingerprint, "at_time": now(), "stage": bench.stage, "reader": item.cell.name,
                "model": item.cell.model, "revision": model.revision, "engine": model.engine,
                "family": declared.family or None, "size": declared.size, "prompt": item.cell.prompt, "shots": item.cell.shots,
                "positives": item.cell.positives, "rationales": item.cell.rationales, "repeat": item.cell.repeat,
                "style": item.cell.style, "examples": list(item.spec.shots), "split_version": version,
            }
        )  # fmt: skip
    store.append("bench_cells", rows)
