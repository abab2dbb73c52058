"""One side of a comparison: a review as it stands, or a run of a review as its stages had judged when it ended."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from litcascade.errors import InputError
from litcascade.pipeline.report_page.living import states_at
from litcascade.pipeline.report_page.repeat import model_rows
from litcascade.pipeline.review import Review, open_review
from litcascade.pipeline.states import model_states
from litcascade.schemas import SCREENING, Protocol, parse_protocol
from litcascade.schemas.keys import digest
from litcascade.store import Store

States = Mapping[str, Mapping[str, str]]  # by stage, by record


@dataclass(frozen=True)
class Side:
    """What is compared. `states` hear people, `models` do not (a run has no people's decisions: both are the same).

    `judged_by` tells models, revisions, engines and prompts, to be compared beside the protocol.
    """

    name: str
    protocol: Protocol
    titles: Mapping[str, str | None]
    states: States
    models: States
    gold: States
    judged_by: Mapping[str, str] = field(default_factory=dict)
    is_run: bool = False


def load_sides(names: list[str], review_folder: Path) -> list[Side]:
    """Each name is the folder of a review, or the id of a run of the review in `review_folder`; nothing is written."""
    if len(names) < 2:
        raise InputError("a comparison needs two names or more: folders of reviews, or ids of runs of this review")
    if len(set(names)) < len(names):
        raise InputError("the same name stands twice in the comparison; nothing can differ")
    return [_side(name, review_folder) for name in names]


def _side(name: str, review_folder: Path) -> Side:
    if Path(name).is_dir():
        review = open_review(Path(name))
        with review.open(read_only=True) as store:
            return _of_review(name, review, store)
    if not name.startswith("run-"):
        raise InputError(f"{name}: is neither a folder nor the id of a run (run-…, as `litcascade report` lists them)")
    review = open_review(review_folder)
    with review.open(read_only=True) as store:
        return _of_run(name, review, store)


def _of_review(name: str, review: Review, store: Store) -> Side:
    stages = _screening(review.protocol)
    states = {stage: dict(store.rows(f"select record_id, state from {stage}")) for stage in stages}
    models = {stage: dict(store.rows(model_states(stage))) for stage in stages}
    told = {
        f"prompt of {reader} at {stage}": digest(prompt.model_dump())[:12] for (stage, reader), prompt in review.prompts.items()
    }
    newest = store.value("select run_id from runs order by seq desc limit 1")
    return Side(name, review.protocol, _titles(store), states, models, _gold(store, stages), {**told, **_models(store, newest)})


def _of_run(name: str, review: Review, store: Store) -> Side:
    found = store.rows(
        "select protocol_hash, last from (select run_id, protocol_hash, "
        "coalesce(lead(seq) over (order by seq) - 1, 9223372036854775807) as last from runs) where run_id = ?",
        [name],
    )
    if not found:
        raise InputError(f"{review.folder}: there is no run '{name}'; `litcascade report --html FILE` lists the runs")
    key, last = found[0]
    text = store.value("select text from protocols where hash = ?", [key])
    protocol = parse_protocol(text, f"the protocol of {name}")
    stages = _screening(protocol)
    states = {stage: states_at(store, stage, last) for stage in stages}
    return Side(name, protocol, _titles(store), states, states, _gold(store, stages), _models(store, name), is_run=True)


def _screening(protocol: Protocol) -> list[str]:
    return [name for name, _ in protocol.stages.items() if name in SCREENING]


def _titles(store: Store) -> dict[str, str | None]:
    return dict(store.rows("select record_id, title from records"))


def _gold(store: Store, stages: list[str]) -> dict[str, dict[str, str]]:
    return {stage: dict(store.rows("select record_id, decision from current_gold where stage = ?", [stage])) for stage in stages}


def _models(store: Store, run: str | None) -> dict[str, str]:
    return {
        f"model {name} as it ran": f"{model} @ {revision}, {engine}"
        for of, _, name, model, revision, engine, _ in model_rows(store)
        if of == run
    }
