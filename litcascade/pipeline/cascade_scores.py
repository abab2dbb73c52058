"""The cascade against gold: what was lost where, what gold at one stage would have saved, what extraction yielded."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from litcascade.eval import CascadeLoss, Estimate, cascade_loss
from litcascade.eval.cascade import Yield, counterfactuals, extraction_yield
from litcascade.pipeline.field_scores import FieldScores
from litcascade.pipeline.states import KEPT, SCORED, has_gold, model_states
from litcascade.store import Store


@dataclass(frozen=True)
class CascadeScores:
    """Loss by stage, R_end with gold put in at each stage, and the yield of extraction where there is gold for it."""

    loss: CascadeLoss
    with_gold_at: dict[str, Estimate]
    extraction: Yield | None


def score_cascade(store: Store, screening: Sequence[str], fields: FieldScores, seed: int) -> CascadeScores | None:
    """Scores among the records that gold includes at the last screening stage with gold; None while any is pending."""
    last = [name for name in screening if has_gold(store, name)][-1]
    upto = screening[: screening.index(last) + 1]
    ids = [row[0] for row in store.rows("select record_id from current_gold where stage = ? and decision = 'include'", [last])]
    columns = _passed(store, ids, upto)
    if columns is None:
        return None
    names = list(columns)
    schema = {"record_id": pl.String, **dict.fromkeys(names, pl.Boolean)}
    frame = pl.DataFrame({"record_id": ids, **columns}, schema=schema)
    return CascadeScores(cascade_loss(frame, names), counterfactuals(frame, names), _yield(frame, names, fields, seed))


def _passed(store: Store, ids: Sequence[str], stages: Sequence[str]) -> dict[str, list[bool | None]] | None:
    """Whether each record passed each stage; None where it did not come there, or where no model decided.

    A record that waits for a person counts as kept where it waits, and comes to no later stage; one that a person decided
    leaves the cascade of the models there. `eval` takes both out of the later denominators, and counts them.
    """
    columns: dict[str, list[bool | None]] = {}
    for stage in stages:
        states: dict[str, str] = dict(store.rows(model_states(stage)))
        if any(states.get(key) == "pending" for key in ids):
            return None
        if stage == "full_text":
            columns["retrieval"] = [states[key] != "not retrieved" if key in states else None for key in ids]
        judged = {key: state in KEPT for key, state in states.items() if state in SCORED}
        columns[stage] = [judged.get(key) for key in ids]
    return columns


def _yield(passed: pl.DataFrame, names: Sequence[str], fields: FieldScores, seed: int) -> Yield | None:
    """Gold values, values given and values right by paper, for papers with gold fields; None without any."""
    if fields.by_record is None or not fields.by_record.height:
        return None
    counts = fields.by_record.group_by("record_id").agg(
        gold_values=pl.len(), given=pl.col("given").sum(), right=pl.col("right").sum()
    )
    frame = passed.join(counts, on="record_id", how="left")  # papers without gold fields count in R_end alone
    return extraction_yield(frame, names, np.random.default_rng(seed))
