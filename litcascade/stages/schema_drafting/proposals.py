"""A proposal for the schema: its kinds, when it is whole, the form it is asked in, and how an answer is read."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, get_args

from pydantic import BeforeValidator, ValidationError

from litcascade.schemas import Frozen, Refer, ReferCode, digest
from litcascade.schemas.fields import FieldSpec, folded
from litcascade.schemas.fields.spec import LISTED
from litcascade.schemas.keys import scrubbed
from litcascade.stages.schema_drafting.candidates import KINDS, Candidate, field_name, text_of

ProposalKind = Literal["new", "merge", "split", "edge_case", "exception"]
Decision = Literal["", "accept", "edit", "refuse"]
PROPOSAL_KINDS: tuple[ProposalKind, ...] = get_args(ProposalKind)
TOKENS = 260  # that one proposal may take
_MOST = {"evidence": 12, "names": 8, "fields": 4, "values": 12, "parts": 12}


class Evidence(Frozen):
    """What a proposal rests on: a candidate of one paper, with its quote and whether that stands in the paper."""

    record: str
    name: str = ""
    quote: str = ""
    found: bool = False
    flags: tuple[str, ...] = ()


def _plain(value: Any) -> Any:
    return value.strip().casefold() if isinstance(value, str) else value


class Proposal(Frozen):
    """One change of a schema, why, on what evidence, and what a person decided; `""` is undecided.

    `new`: the one field of `fields`. `merge`: `names` become the one field. `split`: the one name becomes several fields.
    `edge_case`, `exception`: `text` is added to the edge cases of the field in `names`.
    """

    id: str
    kind: ProposalKind
    names: tuple[str, ...] = ()
    fields: tuple[FieldSpec, ...] = ()
    text: str = ""
    rationale: str = ""
    evidence: tuple[Evidence, ...] = ()
    decision: Annotated[Decision, BeforeValidator(_plain)] = ""
    note: str = ""

    @property
    def content(self) -> str:
        """A digest of what it changes: kind, names, fields and text."""
        return digest([self.kind, list(self.names), [field.model_dump(mode="json") for field in self.fields], self.text])


class Invalid(Frozen):
    """Something in an answer that is no whole proposal, with what is wrong and as much as could be read."""

    fault: str
    kind: str = ""
    names: tuple[str, ...] = ()
    rationale: str = ""


def fault_of(proposal: Proposal) -> str | None:
    """Why a proposal cannot be applied to any schema; None where it can."""
    kind, names, fields = proposal.kind, len(set(proposal.names)), len(proposal.fields)
    twice = len({field.name for field in proposal.fields}) < fields
    rule = (names != 1 and "it needs exactly one name") or (not proposal.text and "it needs a text")
    wrong = {
        "new": fields != 1 and "a new field needs exactly one field",
        "merge": (names < 2 and "a merge needs two names or more") or (fields != 1 and "a merge needs exactly one field"),
        "split": (names != 1 and "a split needs exactly one name") or (fields < 2 and "a split needs two fields or more"),
        "edge_case": rule,
        "exception": rule,
    }[kind]
    return wrong or ("it names a field twice" if twice else None)


def shape(most: int, ids: int) -> dict[str, Any]:
    """The JSON schema of an answer with at most so many proposals; ids are `c` with a number of as many digits as there are."""
    digits = len(str(max(1, ids)))

    def text(limit: int) -> dict[str, Any]:
        return {"type": "string", "maxLength": limit}

    def several(name: str, items: dict[str, Any], least: int = 0) -> dict[str, Any]:
        return {"type": "array", "items": items, "minItems": least, "maxItems": _MOST[name]}

    def table(parts: dict[str, Any]) -> dict[str, Any]:
        return {"type": "object", "properties": parts, "required": list(parts), "additionalProperties": False}

    field = table({
        "name": text(60), "definition": text(240), "kind": {"enum": list(KINDS)},
        "values": several("values", text(60)), "parts": several("parts", text(60)),
    })  # fmt: skip
    number = {**text(digits + 1), "pattern": f"^c[0-9]{{1,{digits}}}$"}
    one = table({
        "evidence": several("evidence", number, 1), "kind": {"enum": list(PROPOSAL_KINDS)},
        "names": several("names", text(60)), "fields": several("fields", field), "text": text(300), "rationale": text(300),
    })  # fmt: skip
    return table({"proposals": {"type": "array", "items": one, "maxItems": most}})


def read_proposals(found: dict[str, Any], shown: Mapping[str, Candidate]) -> tuple[list[Proposal], list[Invalid]] | Refer:
    """The whole proposals of an answer and what is none; a `Refer` where there is no list, or nothing in it is whole."""
    entries = found.get("proposals")
    if not isinstance(entries, list):
        return Refer(code=ReferCode.UNPARSED, detail='there is no list "proposals" in the answer')
    read = [_read(entry, shown) for entry in entries]
    good = [one for one in read if isinstance(one, Proposal)]
    bad = [one for one in read if isinstance(one, Invalid)]
    if bad and not good:
        return Refer(code=ReferCode.UNPARSED, detail="; ".join(one.fault for one in bad)[:300])
    return good, bad


def _read(entry: Any, shown: Mapping[str, Candidate]) -> Proposal | Invalid:
    if not isinstance(entry, dict):
        return Invalid(fault=f"a proposal must be an object (got {str(scrubbed(str(entry)))[:60]!r})")
    kind = text_of(entry.get("kind"), 20).casefold()
    names = tuple(dict.fromkeys(name for name in map(field_name, _texts(entry.get("names"))) if name))
    told: dict[str, Any] = {"kind": kind, "names": names, "rationale": text_of(entry.get("rationale"), 300)}
    ids = list(dict.fromkeys(_texts(entry.get("evidence"))))
    unknown = [name[:20] for name in ids if name not in shown]
    if kind not in PROPOSAL_KINDS:
        return Invalid(**told, fault=f"the kind {kind!r} is none of {', '.join(PROPOSAL_KINDS)}")
    if unknown or not ids:
        words = f"it names as evidence what is not on the list: {', '.join(unknown[:5])}" if unknown else "it names no evidence"
        return Invalid(**told, fault=words)
    given = entry.get("fields") if isinstance(entry.get("fields"), list) else []
    wanted = [] if kind in ("edge_case", "exception") else list(given or [])
    fields: list[FieldSpec] = []
    for one in wanted:
        field = _field(one)
        if isinstance(field, str):
            return Invalid(**told, fault=field)
        fields.append(field)
    text = text_of(entry.get("text"), 300) if not wanted else ""
    made = Proposal(id="", **told, fields=tuple(fields), text=text, evidence=tuple(_evidence(shown[name]) for name in ids))
    fault = fault_of(made)
    return Invalid(**told, fault=fault) if fault else made


def _texts(value: Any) -> list[str]:
    return [text for item in value if (text := text_of(item, 120))] if isinstance(value, list) else []


def _field(given: Any) -> FieldSpec | str:
    """A field as proposed; values only where its kind has some, a group's parts as open text for a person to refine."""
    if not isinstance(given, dict):
        return "a field must be an object"
    name, kind = field_name(text_of(given.get("name"), 60)), text_of(given.get("kind"), 10).casefold()
    table: dict[str, Any] = {"name": name, "kind": kind, "definition": text_of(given.get("definition"), 240)}
    if kind in LISTED:
        table["values"] = tuple({folded(value): value for value in _texts(given.get("values"))}.values())
    if kind == "group":
        parts = dict.fromkeys(part for part in map(field_name, _texts(given.get("parts"))) if part)
        table["fields"] = tuple({"name": part, "kind": "open", "definition": f"{part.replace('_', ' ')}."} for part in parts)
    if not table["definition"]:
        return f"the field '{name}' has no definition"
    try:
        return FieldSpec.model_validate(table)
    except ValidationError as error:
        words = error.errors(include_url=False)[0]["msg"].removeprefix("Value error, ")
        return f"the field '{name}' cannot be used: {words}"


def _evidence(one: Candidate) -> Evidence:
    return Evidence(record=one.record_id, name=one.name, quote=one.quote, found=one.quote_found, flags=one.flags)


def joined(proposals: Sequence[Proposal]) -> tuple[Proposal, ...]:
    """Proposals of all batches, equal ones once with the evidence of all, numbered p1, p2, … in their order."""
    held: dict[str, Proposal] = {}
    for one in proposals:
        before = held.get(one.content)
        evidence = tuple(dict.fromkeys([*(before.evidence if before else ()), *one.evidence]))
        held[one.content] = (before or one).model_copy(update={"evidence": evidence})
    return tuple(one.model_copy(update={"id": f"p{number}"}) for number, one in enumerate(held.values(), 1))
