"""Keys of calls whose model is called otherwise in the archive: a key covers the model's name, so it must change with it."""

import json
from collections.abc import Mapping
from pathlib import Path

import polars as pl

from litcascade.schemas import ModelRef, Request
from litcascade.store import Store

_BATCH = 2_000


def write_keymap(store: Store, models: Mapping[str, str], path: Path) -> Path | None:
    """Write (old, new) keys of all calls of these models, name to alias; None where there is none."""
    ids = [row[0] for row in store.rows("select key from calls where model in (select unnest(?::text[]))", [list(models)])]
    pairs: list[tuple[str, str]] = []
    for start in range(0, len(ids), _BATCH):
        rows = store.rows(
            "select key, model, revision, engine, request from calls where key in (select unnest(?::text[]))",
            [ids[start : start + _BATCH]],
        )
        for key, model, revision, engine, request in rows:
            ref = ModelRef(name=models[model], revision=revision, engine=engine)
            pairs.append((key, Request.model_validate({"model": ref, **json.loads(request)}).key))
    if not pairs:
        return None
    pl.DataFrame(pairs, schema={"old": pl.String, "new": pl.String}, orient="row").write_parquet(path)
    return path
