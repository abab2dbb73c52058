"""What people decided applied to a schema: a pure function, so that the same decisions give the same schema anywhere."""

from collections.abc import Sequence

from litcascade.errors import InputError
from litcascade.schemas import FieldSpec
from litcascade.schemas.fields.schemas import require_names
from litcascade.stages.schema_drafting.proposals import Proposal, fault_of

Specs = tuple[FieldSpec, ...]


def undecided(proposals: Sequence[Proposal]) -> tuple[Proposal, ...]:
    """Those without a decision."""
    return tuple(one for one in proposals if not one.decision)


def apply(specs: Specs, proposals: Sequence[Proposal]) -> Specs:
    """The schema with all accepted and edited proposals, in their order; refused and undecided ones change nothing.

    New, merged and split fields come first, then edge cases and exceptions, so that these may speak of a field that another
    proposal makes. A merge or split stands where the first of its fields stood; names that are no field yet are candidates, and
    their field is added. What does not fit together is an `InputError` that names the proposal.
    """
    chosen = [one for one in proposals if one.decision in ("accept", "edit")]
    for one in chosen:
        if fault := fault_of(one):
            raise InputError(f"proposal {one.id}: {fault}; mend it, or refuse it")
    became: dict[str, str] = {}
    for one in chosen:
        if one.kind in ("new", "merge", "split"):
            specs = _changed(specs, one)
            if one.kind == "merge":
                became |= dict.fromkeys(one.names, one.fields[0].name)
    for one in chosen:
        if one.kind in ("edge_case", "exception"):
            specs = _sharpened(specs, one, became)
    return specs


def _changed(specs: Specs, one: Proposal) -> Specs:
    gone = set() if one.kind == "new" else set(one.names)
    place = next((place for place, spec in enumerate(specs) if spec.name in gone), len(specs))
    kept = [spec for spec in specs if spec.name not in gone]
    before = sum(spec.name not in gone for spec in specs[:place])
    made = (*kept[:before], *one.fields, *kept[before:])
    require_names(made, f"proposal {one.id}")
    return made


def _sharpened(specs: Specs, one: Proposal, became: dict[str, str]) -> Specs:
    name = one.names[0]
    for _ in became:
        name = became.get(name, name)
    if name not in {spec.name for spec in specs}:
        raise InputError(
            f"proposal {one.id}: there is no field '{one.names[0]}' that the {one.kind.replace('_', ' ')} could belong to; "
            'name another with decision = "edit", or refuse it'
        )
    words = f"Exception: {one.text}" if one.kind == "exception" else one.text
    return tuple(
        spec.model_copy(update={"edge_cases": (*spec.edge_cases, words)})
        if spec.name == name and words not in spec.edge_cases
        else spec
        for spec in specs
    )
