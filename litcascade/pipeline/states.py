"""What the models said of each record, people's decisions told apart: SQL shared by all that scores."""

import polars as pl

from litcascade.store import Store

SCORED = ("included", "referred", "excluded")
KEPT = ("included", "referred")


def has_gold(store: Store, stage: str) -> bool:
    """Whether any record has a gold label at a stage."""
    return bool(store.value("select count(*) from gold where stage = ?", [stage]))


def model_states(stage: str) -> str:
    """What the models said at a stage, before any person: record_id, state."""
    return (
        f"select {stage}.record_id, coalesce(v.state, "
        f"case when decided_by <> 'model' then 'decided by a person' end, {stage}.state) as state from {stage} left join ("
        "select verdicts.record_id, verdicts.state from verdicts join current_stages "
        "on current_stages.stage = verdicts.stage and current_stages.fingerprint = verdicts.fingerprint "
        f"where verdicts.stage = '{stage}' "
        "qualify row_number() over (partition by record_id order by verdicts.seq desc) = 1) v "
        f"on v.record_id = {stage}.record_id and {stage}.state <> 'pending'"
    )


def stage_frame(store: Store, stage: str) -> pl.DataFrame:
    """Gold joined by id to what the models said: `record_id`, `gold`, `state`, `score`; all records with gold."""
    rows = store.rows(
        f"select g.record_id, g.decision, coalesce(s.state, 'did not reach this stage'), v.score "
        f"from (select * from current_gold where stage = '{stage}') g left join ({model_states(stage)}) s using (record_id) "
        f"left join {stage} v using (record_id)"
    )
    schema = {"record_id": pl.String, "gold": pl.String, "state": pl.String, "score": pl.Float64}
    return pl.DataFrame(rows, schema=schema, orient="row")
