"""What people say of single proposals at the desk: appended one by one, and frozen together like a file that they filled in."""

import tomllib
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from litcascade.errors import InputError
from litcascade.pipeline.review import Review
from litcascade.pipeline.schema_drafting.binding import FOLDER
from litcascade.pipeline.schema_drafting.freezing import FrozenVersion, freeze
from litcascade.pipeline.schema_drafting.proposing import FILE, require_untouched
from litcascade.schemas import FieldSpec
from litcascade.schemas.fields import parse_schema
from litcascade.schemas.fields.writing import schema_toml
from litcascade.schemas.keys import scrubbed
from litcascade.schemas.toml_text import toml_lines
from litcascade.stages.schema_drafting import Proposal, ProposalsFile, apply, proposals_toml
from litcascade.stages.schema_drafting.files import Made
from litcascade.stages.schema_drafting.proposals import fault_of
from litcascade.store import Store, now

DECIDED = "decided.toml"
WORDS = ("accept", "edit", "refuse")
KEYS = ("names", "text", "fields")
NEWEST = "select arg_max(run_id, seq) from schema_passes"
STANDING = (
    f"select * from proposal_words where run_id = ({NEWEST}) and seq not in (select of_seq from withdrawn) "
    "qualify row_number() over (partition by proposal_id order by seq desc) = 1"
)
WAITING = (
    f"select p.* from schema_proposals p where p.run_id = ({NEWEST}) and p.fault is null "
    f"and p.proposal_id not in (select proposal_id from ({STANDING})) and p.proposal_id not in ("
    f"select proposal_id from schema_decisions where run_id = ({NEWEST}) "
    f"except select proposal_id from proposal_words where run_id = ({NEWEST}))"
)


def proposal_of(store: Store, proposal_id: str) -> Proposal:
    """A whole proposal of the newest pass as it was made; another one is an `InputError`."""
    rows = store.rows(
        f"select proposal from schema_proposals where run_id = ({NEWEST}) and proposal_id = ? and fault is null", [proposal_id]
    )
    if not rows:
        raise InputError(
            f"proposal '{proposal_id[:40]}' is not in the newest pass of `litcascade schema propose`; nothing was changed"
        )
    return Proposal.model_validate_json(rows[0][0])


def change_text(one: Proposal) -> str:
    """What a proposal changes (names, text, fields) as the TOML that `changed` reads back."""
    plain = {"names": list(one.names)} if one.names else {}
    told = toml_lines({**plain, **({"text": one.text} if one.text else {})})
    return "\n\n".join(part for part in ("\n".join(told), schema_toml(one.fields).rstrip("\n")) if part)


def changed(one: Proposal, text: str) -> Proposal:
    """A proposal with what it changes as a person wrote it; what is not TOML, or no whole proposal, is an `InputError`."""
    try:
        given: dict[str, Any] = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"the changed proposal is not valid TOML: {error}") from None
    odd = next((key for key in given if key not in KEYS), None)
    if odd is not None:
        raise InputError(f"the changed proposal has the key '{odd[:40]}'; use {', '.join(KEYS)}")
    try:
        made = Proposal.model_validate({**one.model_dump(mode="json"), "names": [], "text": "", "fields": [], **given})
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        words = first["msg"].removeprefix("Value error, ")
        raise InputError(f"the changed proposal: {'.'.join(map(str, first['loc']))}: {words}") from None
    if fault := fault_of(made):
        raise InputError(f"the changed proposal: {fault}")
    if made.content == one.content:
        raise InputError("nothing of the proposal was changed; choose accept, or change it first")
    return made


def record_word(
    store: Store, proposal_id: str, decision: str, who: str, *, note: str | None = None, text: str | None = None
) -> Proposal:
    """Append what a person decided of a proposal of the newest pass: accept, refuse, or edit with the change as TOML `text`."""
    one = proposal_of(store, proposal_id)
    if decision not in WORDS:
        raise InputError(f"choose {', '.join(WORDS)} for the proposal; nothing was stored")
    if not who.strip():
        raise InputError("nobody is named; sign the decision")
    made = changed(one, text or "") if decision == "edit" else one
    kept = made.model_copy(update={"decision": decision, "note": note or ""})
    row = {
        "at_time": now(), "run_id": store.value(NEWEST), "proposal_id": proposal_id, "decision": decision,
        "who": scrubbed(who.strip()), "note": note, "proposal": kept.model_dump_json(),
    }  # fmt: skip
    store.append("proposal_words", [row])
    return kept


def decided_file(store: Store) -> ProposalsFile:
    """The proposals of the newest pass with what people said: at the desk, else in a file that was frozen."""
    run = store.value(NEWEST)
    if run is None:
        raise InputError("there are no proposals yet; make some with `litcascade schema propose --reader NAME`")
    frozen = dict(
        store.rows(
            "select proposal_id, proposal from schema_decisions where run_id = ? "
            "and proposal_id not in (select proposal_id from proposal_words where run_id = ?) "
            "qualify row_number() over (partition by proposal_id order by seq desc) = 1",
            [run, run],
        )
    )
    said = frozen | dict(store.rows(f"select proposal_id, proposal from ({STANDING})"))
    made = store.rows("select proposal_id, proposal from schema_proposals where run_id = ? and fault is null order by seq", [run])
    reader, model, base = store.rows("select reader, model, base_hash from schema_passes where run_id = ?", [run])[0]
    proposals = tuple(Proposal.model_validate_json(said.get(key, content)) for key, content in made)
    return ProposalsFile(made=Made(run=run, reader=reader or "", model=model or "", base=base or ""), proposals=proposals)


def base_schema(store: Store) -> tuple[FieldSpec, ...]:
    """The schema that the newest pass was made against; none before the first version."""
    text = store.value(f"select base from schema_passes where run_id = ({NEWEST})")
    return parse_schema(text, "the schema of the proposals") if text else ()


def misfit(store: Store) -> str | None:
    """Why the accepted and edited proposals do not fit together as they stand; None where they do."""
    try:
        apply(base_schema(store), decided_file(store).proposals)
    except InputError as error:
        return str(error)
    return None


def unfrozen(store: Store) -> int:
    """How many standing words of people at the desk are in no frozen version as they stand."""
    return int(
        store.value(
            f"select count(*) from ({STANDING}) w where not exists (select 1 from schema_decisions d where d.run_id = w.run_id "
            "and d.proposal_id = w.proposal_id and d.seq > w.seq and d.decision = w.decision)"
        )
    )


def worked_on(review: Review, store: Store) -> Path | None:
    """The review's file of proposals where somebody has worked in it by hand: what stands there the desk does not hear."""
    path = review.folder / FOLDER / FILE
    try:
        require_untouched(store, path, force=False)
    except InputError:
        return path
    return None


def freeze_words(review: Review, store: Store, author: str) -> FrozenVersion:
    """Freeze a version of what people said so far, by `freeze`; undecided proposals wait. Raises what `freeze` raises."""
    held = decided_file(store)
    if not any(one.decision for one in held.proposals):
        raise InputError("no proposal is decided yet, so there is nothing to freeze")
    path = review.folder / FOLDER / DECIDED
    path.parent.mkdir(exist_ok=True)
    path.write_text(proposals_toml(held), encoding="utf-8", newline="")
    return freeze(review, store, author, proposals=path, leave_undecided=True)
