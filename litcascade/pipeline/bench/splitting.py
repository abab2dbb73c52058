"""The frozen splits of a stage's labelled records."""

import json

import polars as pl

from litcascade.errors import InputError
from litcascade.eval.panels.splits import split
from litcascade.pipeline.examples import current_splits, studies
from litcascade.schemas import digest
from litcascade.schemas.bench import BenchSpec
from litcascade.store import Store, now


def frozen_splits(store: Store, spec: BenchSpec, *, redraw: bool = False) -> tuple[str, pl.DataFrame]:
    """The version and the splits (`record_id`, `split`), drawn and stored at the first call and the same ever after.

    Reports of one study stand in one split. Sizes, method or seed that differ from those of the frozen splits are an
    `InputError`, unless `redraw` draws anew as a version of its own. Records labelled later are in no split.
    """
    declared = spec.splits.model_dump(mode="json")
    version, splits = current_splits(store, spec.stage)
    if version is not None and not redraw:
        kept = json.loads(store.value("select declared from split_versions where version = ?", [version]))
        if kept != declared:
            raise InputError(
                f"the splits of {spec.stage} are frozen with {_words(kept)}, but [bench.splits] says {_words(declared)}; put the "
                "old values back, or draw anew with --redraw (what was chosen on the old splits then rests on other records)"
            )
        return version, splits
    drawn = _draw(store, spec)
    taken = store.value("select count(*) from split_versions where stage = ?", [spec.stage])
    version = digest([spec.stage, declared, sorted(drawn.rows()), taken])
    stamp = {"at_time": now(), "version": version, "stage": spec.stage}
    with store.transaction():
        store.append("split_versions", [{**stamp, "declared": json.dumps(declared)}])
        store.append("splits", [{**stamp, **row} for row in drawn.iter_rows(named=True)])
    return version, drawn


def _draw(store: Store, spec: BenchSpec) -> pl.DataFrame:
    rows = store.rows(
        "select record_id, decision from current_gold join records using (record_id) where stage = ? order by record_id",
        [spec.stage],
    )
    if not rows:
        raise InputError(
            f"no record has a gold label at {spec.stage}; import labels first with `litcascade import FILE --as gold`"
        )
    study = studies(store)
    frame = pl.DataFrame(
        [(record_id, decision, study.get(record_id, record_id)) for record_id, decision in rows],
        schema={"record_id": pl.String, "gold": pl.String, "study": pl.String}, orient="row",
    )  # fmt: skip
    units = frame.group_by("study").agg(pl.col("gold").max()).rename({"study": "record_id"})  # include > exclude
    sizes = spec.splits.sizes()
    drawn = split(units, sizes, spec.splits.seed, spec.splits.method)
    found = frame.join(drawn.rename({"record_id": "study"}), on="study", how="left").select("record_id", "gold", "split")
    _require_both(found, sizes)
    return found.filter(pl.col("split").is_not_null()).select("record_id", "split")


def _require_both(found: pl.DataFrame, sizes: dict[str, float]) -> None:
    for name in sizes:
        golds = set(found.filter(pl.col("split") == name)["gold"])
        for side in {"include", "exclude"} - golds:
            raise InputError(
                f"the split '{name}' would hold no record labelled {side}; label more records, or change [bench.splits]"
            )


def _words(declared: dict[str, object]) -> str:
    return ", ".join(f"{name} {value}" for name, value in declared.items())
