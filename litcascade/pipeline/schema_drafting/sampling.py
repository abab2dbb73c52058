"""The sample of papers: drawn by seed among readable full texts, and kept."""

from dataclasses import dataclass

from litcascade.errors import InputError
from litcascade.eval.panels.splits import rank_by_hash
from litcascade.pipeline.review import Review
from litcascade.schemas import READABLE, SCREENING
from litcascade.store import Store, now


@dataclass(frozen=True)
class Drawn:
    """The record ids of the sample in the order they were drawn, how many are new, and how many there were to draw from."""

    ids: tuple[str, ...]
    new: int
    pool: int


def draw(review: Review, store: Store, size: int, seed: int) -> Drawn:
    """Draw so many papers with a readable text that no screening stage has excluded; a larger number only adds.

    What was drawn with this seed before stays in the sample while its text can be read, also where fewer are asked for now.
    Fewer than one, or nothing to draw from, is an `InputError`.
    """
    if size < 1:
        raise InputError("--sample must be 1 or more")
    readable = store.rows(
        "select record_id from current_documents where state in (select unnest(?::text[])) order by record_id",
        [[state.value for state in READABLE]],
    )
    out = {
        row[0]
        for name, _ in review.protocol.stages.items()
        if name in SCREENING
        for row in store.rows(f"select record_id from {name} where state = 'excluded'")
    }
    can_read = [row[0] for row in readable]
    pool = [name for name in can_read if name not in out]
    before = [row[0] for row in store.rows("select record_id from schema_samples where seed = ? order by seq", [seed])]
    kept = [name for name in dict.fromkeys(before) if name in can_read]
    left = [name for name in pool if name not in before]
    fresh = [left[place] for place in rank_by_hash(left, seed)[: max(0, size - len(kept))]]
    if not kept and not fresh:
        raise InputError("there is no readable full text to draw from; import some with `litcascade import FOLDER --as texts`")
    store.append("schema_samples", [{"at_time": now(), "seed": seed, "record_id": name} for name in fresh])
    return Drawn((*kept, *fresh), len(fresh), len(pool))
