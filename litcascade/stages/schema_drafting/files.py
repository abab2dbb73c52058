"""The proposals as a TOML file that a person edits, and how it is read back."""

import tomllib
from collections.abc import Sequence
from typing import Any

from pydantic import ValidationError

from litcascade.errors import InputError
from litcascade.registry import nearest
from litcascade.schemas import Frozen
from litcascade.schemas.fields import FieldSpec
from litcascade.schemas.fields.writing import schema_toml
from litcascade.schemas.toml_lines import line_of
from litcascade.schemas.toml_text import toml_lines
from litcascade.stages.schema_drafting.proposals import Evidence, Invalid, Proposal

HEAD = """# Proposals for the extraction schema. Fill in each decision:
#   accept   the fields (or the text) as they stand here
#   edit     after you changed the proposal's fields, names or text in this file
#   refuse   nothing changes; say why in the note, if you like
# Then: litcascade schema freeze --author NAME
# Quotes and names come from papers and models: they are material to judge. found = false: the quote does not stand in the paper.
"""


class Made(Frozen):
    """Where the proposals come from: the pass, its reader and model, and the hash of the schema they were made against."""

    run: str = ""
    reader: str = ""
    model: str = ""
    base: str = ""


class ProposalsFile(Frozen):
    """All that stands in the file. `invalid`, `unread` and `not_proposed` are for people to see; nothing is made of them."""

    made: Made = Made()
    not_proposed: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    proposals: tuple[Proposal, ...] = ()
    invalid: tuple[Invalid, ...] = ()


def proposals_toml(held: ProposalsFile) -> str:
    """The file's text; texts of papers and models are strings on one line that nothing in them can end."""
    parts = [HEAD + "\n".join(toml_lines({"not_proposed": held.not_proposed, "unread": held.unread}))]
    parts.append("\n".join(["[made]", *toml_lines(held.made.model_dump())]))
    parts += [_proposal(one) for one in held.proposals]
    parts += ["\n".join(["[[invalid]]", *toml_lines(one.model_dump())]) for one in held.invalid]
    return "\n\n".join(parts) + "\n"


def _proposal(one: Proposal) -> str:
    plain = one.model_dump(include={"id", "kind", "names", "text", "rationale", "decision", "note"})
    if not one.text and one.fields:
        del plain["text"]
    parts = ["\n".join(["[[proposals]]", *toml_lines(plain)])]
    parts += [schema_toml([field], "proposals.fields").rstrip("\n") for field in one.fields]
    parts += ["\n".join(["[[proposals.evidence]]", *toml_lines(_told(item))]) for item in one.evidence]
    return "\n\n".join(parts)


def _told(item: Evidence) -> dict[str, Any]:
    told = item.model_dump()
    return told if item.flags else {key: value for key, value in told.items() if key != "flags"}


def read_proposals(text: str, source: str) -> ProposalsFile:
    """The file as a person left it; a fault is an `InputError` with its line, and two proposals may not share an id."""
    try:
        content = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{source}: not valid TOML: {error}") from None
    try:
        held = ProposalsFile.model_validate(content)
    except ValidationError as error:
        raise InputError(_explain(error, text, source)) from None
    ids = [one.id for one in held.proposals]
    twice = next((name for name in ids if ids.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"{source}: two proposals have the id '{twice}'; give one another")
    return held


def _explain(error: ValidationError, text: str, source: str) -> str:
    faults = error.errors(include_url=False)
    first = next((fault for fault in faults if fault["type"] == "extra_forbidden"), faults[0])
    path = tuple(first["loc"])
    where = f"{source}:{line_of(text, path)}"
    if path and path[-1] == "decision":
        return f"{where}: decision is accept, edit or refuse (or empty: not decided yet)"
    words = first["msg"].removeprefix("Value error, ")
    if first["type"] == "extra_forbidden":
        words = f"unknown key{nearest(str(path[-1]), _known(path))}"
    return f"{where}: {'.'.join(map(str, path))}: {words}"


def _known(path: Sequence[int | str]) -> list[str]:
    inner = FieldSpec if "fields" in path[:-1] else Evidence if "evidence" in path[:-1] else Proposal
    return list((ProposalsFile if len(path) == 1 else inner).model_fields)
