"""By length: what became of short and long records, and how many readers they cost."""

import numpy as np
import polars as pl

from litcascade.pipeline.review import Review
from litcascade.report.page import Block, absent
from litcascade.report.tables import Table
from litcascade.schemas import SCREENING
from litcascade.store import Store

BINS = 4


def length_blocks(review: Review, store: Store) -> list[Block]:
    """For each screening stage its records in four bins by the longest prompt that was asked about them."""
    blocks: list[Block] = []
    for stage, spec in review.protocol.stages.items():
        if stage not in SCREENING:
            continue
        frame = store.frame(_LENGTHS.format(stage=stage), _FRAME, [stage, stage])
        if not frame.height:
            blocks.append(absent(f"{stage}: no engine counted the tokens of a prompt, so nothing can be told by length."))
            continue
        how = "a frozen rule says whom to ask, by length where it is routed" if spec.policy == "rule" else f"policy {spec.policy}"
        blocks.append(_table(stage, frame, how))
    return blocks or [absent("The protocol has no screening stage, so there is nothing to tell by length.")]


_FRAME = {
    "record_id": pl.String, "tokens": pl.Int64, "readers": pl.Int64, "calls": pl.Int64, "state": pl.String, "seen": pl.Float64,
    "gold": pl.String, "model": pl.String,
}  # fmt: skip
_LENGTHS = (
    "select s.record_id, max(c.prompt_tokens), count(distinct r.reader), count(*), any_value(s.state), any_value(s.seen), "
    "any_value(g.decision), any_value(v.state) from {stage} s join ("
    "  select record_id, reader, unnest(calls) as key from readings join current_stages using (stage, fingerprint) "
    "  where stage = ?) r on r.record_id = s.record_id join calls c on c.key = r.key "
    "left join (select verdicts.record_id, arg_max(verdicts.state, verdicts.seq) as state from verdicts join current_stages "
    "  using (stage, fingerprint) group by verdicts.record_id, stage having stage = '{stage}') v on v.record_id = s.record_id "
    "left join current_gold g on g.record_id = s.record_id and g.stage = ? "
    "where c.prompt_tokens > 0 group by s.record_id"
)


def _table(stage: str, frame: pl.DataFrame, how: str) -> Table:
    tokens = frame["tokens"].to_numpy()
    edges = np.unique(np.quantile(tokens, np.arange(1, BINS) / BINS, method="nearest"))
    place = np.searchsorted(edges, tokens, side="left")
    rows: list[list[object]] = []
    for number in sorted(set(place.tolist())):
        part = frame.filter(pl.Series(place == number))
        states = dict(part["state"].value_counts().iter_rows())
        includes = part.filter(pl.col("gold") == "include")
        kept = includes.filter(pl.col("model").is_in(["included", "referred"])).height
        ends = [int(end(tokens[place == number])) for end in (np.min, np.max)]
        rows.append([
            *ends, part.height, *(states.get(state, 0) for state in ("included", "excluded", "referred")), part["readers"].mean(),
            part["calls"].mean(), part["seen"].min(), includes.height, kept / includes.height if includes.height else None,
        ])  # fmt: skip
    header = [
        "tokens from", "to", "records", "included", "excluded", "referred", "readers a record", "calls a record",
        "least share seen", "gold includes", "recall of the models",
    ]  # fmt: skip
    notes = [f"tokens of the longest prompt, by quartiles; {how}", "recall is undefined where a bin holds no gold include"]
    return Table(f"By length at {stage}", header, rows, notes)
