"""What a grid's cells (and people who are readers) said, as votes with gold; and what a reading of each cost."""

import polars as pl

from litcascade.errors import InputError
from litcascade.eval.panels.prices import Prices, ReaderPrice
from litcascade.eval.panels.votes import Gaps, Labelled, label, votes_of
from litcascade.pipeline.review import Review
from litcascade.schemas.bench import BenchSpec
from litcascade.store import Store

_READINGS = {"record_id": pl.String, "reader": pl.String, "decision": pl.String, "score": pl.Float64}


def current_cells(store: Store, bench: BenchSpec) -> pl.DataFrame:
    """The newest run of every cell that the protocol declares: its row of `bench_cells`; none run yet is an `InputError`."""
    names = [cell.name for cell in bench.cells()]
    rows = store.rows(
        "select fingerprint, reader, model, family, size, prompt, shots, positives, rationales, repeat, split_version "
        "from bench_cells where stage = ? and reader in (select unnest(?::text[])) "
        "qualify row_number() over (partition by reader order by seq desc) = 1 order by seq",
        [bench.stage, names],
    )
    if not rows:
        raise InputError("no cell of the grid has been run; run it first with `litcascade bench run`")
    schema = {
        "fingerprint": pl.String, "reader": pl.String, "model": pl.String, "family": pl.String, "size": pl.Float64,
        "prompt": pl.String, "shots": pl.Int64, "positives": pl.Float64, "rationales": pl.Boolean, "repeat": pl.Int64,
        "split_version": pl.String,
    }  # fmt: skip
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    versions = frame["split_version"].unique().to_list()
    if len(versions) > 1:
        raise InputError("some cells were run on earlier splits; run `litcascade bench run` so that all read the same records")
    return frame


def readings_of(store: Store, cells: pl.DataFrame) -> pl.DataFrame:
    """`record_id`, `reader`, `decision` (null: failed), `score` of every cell's newest readings."""
    rows = store.rows(
        "select r.record_id, c.reader, r.decision, r.score from readings r join bench_cells c using (fingerprint) "
        "where fingerprint in (select unnest(?::text[])) "
        "qualify row_number() over (partition by fingerprint, r.record_id order by r.seq desc) = 1",
        [cells["fingerprint"].to_list()],
    )
    return pl.DataFrame(rows, schema=_READINGS, orient="row")


def people_of(store: Store, review: Review, stage: str) -> pl.DataFrame:
    """People who are readers, under the criteria in force; one who was unsure is a failed reading."""
    rows = store.rows(
        "select coalesce(kept_id, record_id) as id, who, decision, null from person_readings "
        "left join current_clusters using (record_id) where stage = ? and criteria_hash = ? "
        "qualify row_number() over (partition by id, who order by seq desc) = 1",
        [stage, review.protocol.criteria_hash(stage)],
    )
    return pl.DataFrame(rows, schema=_READINGS, orient="row")


def lengths_of(store: Store, cells: pl.DataFrame) -> tuple[str, pl.DataFrame]:
    """The reader whose prompts measure length (the first without examples, else the first), and `record_id`, `tokens` by it.

    Lengths are those of its first prompt in its own engine's tokens; records without a count are left out.
    """
    order = cells.sort("shots", maintain_order=True)
    reader, fingerprint = order["reader"][0], order["fingerprint"][0]
    rows = store.rows(
        "select r.record_id, c.prompt_tokens from readings r join calls c on c.key = r.calls[1] "
        "where r.fingerprint = ? and c.prompt_tokens is not null "
        "qualify row_number() over (partition by r.record_id order by r.seq desc) = 1",
        [fingerprint],
    )
    return reader, pl.DataFrame(rows, schema={"record_id": pl.String, "tokens": pl.Int64}, orient="row")


def labelled_of(store: Store, review: Review, bench: BenchSpec, cells: pl.DataFrame, gaps: Gaps) -> dict[str, Labelled]:
    """Votes of all cells (and of people who read all of it) with gold, by split; one without an include is an `InputError`.

    A person who read only some of the records is left out unless `gaps` says how to take that.
    """
    version = cells["split_version"][0]
    rows = store.rows(
        "select s.record_id, s.split, g.decision from splits s "
        "join current_gold g on g.record_id = s.record_id and g.stage = s.stage "
        "where s.version = ? and s.split in ('development', 'evaluation')",
        [version],
    )
    gold = pl.DataFrame(rows, schema={"record_id": pl.String, "split": pl.String, "gold": pl.String}, orient="row")
    models = readings_of(store, cells).join(gold.select("record_id"), on="record_id")
    people = people_of(store, review, bench.stage).join(gold.select("record_id"), on="record_id")
    if gaps == "refuse" and people.height:
        whole = people.group_by("reader").len().filter(pl.col("len") >= gold.height)["reader"].to_list()
        people = people.filter(pl.col("reader").is_in(whole))
    _, lengths = lengths_of(store, cells)
    votes = votes_of(pl.concat([models, people]), lengths, gaps)
    kept = gold.filter(pl.col("record_id").is_in(list(votes.record_ids)))
    whole_set = label(votes, kept.select("record_id", "gold"))
    found = {}
    for name in ("development", "evaluation"):
        ids = [one for one in kept.filter(pl.col("split") == name)["record_id"].sort() if one]
        part = whole_set.only(ids)
        if not part.positives:
            raise InputError(f"the split '{name}' holds no record labelled include; nothing can be chosen or reported on it")
        found[name] = part
    return found


def prices_of(store: Store, bench: BenchSpec, cells: pl.DataFrame) -> Prices:
    """Declared prices, and for each cell the measured tokens and seconds of the engine for one record.

    Seconds are of the clock while the cell was asked, over the calls made in that time; a cell that was answered from the
    store alone has none.
    """
    readers = {}
    for fingerprint, reader in cells.select("fingerprint", "reader").iter_rows():
        tokens = store.value(
            "select sum(prompt_tokens + completion_tokens) / count(distinct reading) from ("
            "select r.record_id as reading, unnest(r.calls) as key from readings r where fingerprint = ?) join calls using (key) "
            "where prompt_tokens is not null and completion_tokens is not null",
            [fingerprint],
        )
        calls, seconds, asked = store.rows(
            "select sum(calls), sum(seconds), sum(records) from bench_runs where fingerprint = ? and calls > 0", [fingerprint]
        )[0]
        each = float(seconds) / float(asked) if calls and asked else None
        readers[reader] = ReaderPrice(tokens=None if tokens is None else float(tokens), gpu_seconds=each)
    return Prices(readers=readers, **bench.prices.model_dump())
