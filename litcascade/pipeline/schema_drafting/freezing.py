"""Frozen versions: decisions applied, hashed and kept; the same fields again are no new version."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from litcascade.errors import InputError
from litcascade.pipeline.review import Review
from litcascade.pipeline.schema_drafting.binding import FOLDER
from litcascade.pipeline.schema_drafting.proposing import FILE
from litcascade.schemas import FieldSpec
from litcascade.schemas.fields import load_schema, parse_schema, schema_hash
from litcascade.schemas.fields.comparing import SchemaDiff, compare
from litcascade.schemas.fields.writing import schema_toml
from litcascade.schemas.keys import scrubbed
from litcascade.schemas.toml_text import toml_string
from litcascade.stages.schema_drafting import Proposal, ProposalsFile, apply, read_proposals, undecided
from litcascade.store import Store, now

Specs = tuple[FieldSpec, ...]


@dataclass(frozen=True)
class FrozenVersion:
    """A version as it now stands: `new` is false where these fields were frozen before. `since` compares with the version before
    it (or, for the first, with the schema it was made from)."""

    version: int
    hash: str
    new: bool
    path: Path
    fields: int
    decisions: dict[str, int]
    left: tuple[str, ...]
    since: SchemaDiff | None
    in_protocol: bool
    notes: list[str] = field(default_factory=list)


def freeze(
    review: Review, store: Store, author: str, *, proposals: Path | None = None, base: str | None = None, out: Path | None = None,
    leave_undecided: bool = False,
) -> FrozenVersion:  # fmt: skip
    """Apply a file of proposals to a schema, or take a schema as it is, and keep the result as a version.

    Without `proposals` and `base` the review's own file of proposals is taken. Proposals are applied to `base`, or else to the
    schema they were made against. Undecided ones are an `InputError` unless they may be left; so is whatever does not fit.
    """
    if not author.strip():
        raise InputError("a version needs an author; give --author NAME")
    path = proposals or (review.folder / FOLDER / FILE if base is None else None)
    held = _read(path) if path else ProposalsFile()
    waiting = undecided(held.proposals)
    if waiting and not leave_undecided:
        names = ", ".join(one.id for one in waiting[:5]) + (", …" if len(waiting) > 5 else "")
        raise InputError(
            f"{path}: {len(waiting)} of {len(held.proposals)} proposal(s) have no decision ({names}); fill in accept, edit or "
            "refuse, or give --leave-undecided"
        )
    notes = _require_as_proposed(store, held, path)
    before = named_schema(review, store, base) if base is not None else _base_of(store, held, path)
    if base is not None and held.made.base and held.made.base != schema_hash(before):
        notes.append(f"the proposals were made against another schema than {base}")
    text = schema_toml(apply(before, held.proposals))
    if not text:
        raise InputError("there would be no field in this version; accept a proposal, or name a schema with --base")
    specs = parse_schema(text, str(path or base))
    return _keep(review, store, author.strip(), specs, before, held, out, [one.id for one in waiting], notes)


def _read(path: Path) -> ProposalsFile:
    if not path.is_file():
        raise InputError(f"{path}: there is no such file of proposals; make one with `litcascade schema propose`, or give --base")
    try:
        return read_proposals(path.read_text(encoding="utf-8-sig"), str(path))
    except UnicodeDecodeError:
        raise InputError(f"{path}: is not UTF-8 text; save it as UTF-8") from None


def _require_as_proposed(store: Store, held: ProposalsFile, path: Path | None) -> list[str]:
    """Refuse what is marked as accepted but is not what was proposed: the record of decisions must be true."""
    stored = dict(
        store.rows("select proposal_id, content from schema_proposals where run_id = ? and fault is null", [held.made.run])
    )
    if not stored:
        return ["the store knows nothing of the pass that made these proposals"] if held.proposals else []
    for one in held.proposals:
        if one.decision == "accept" and stored.get(one.id) != one.content:
            raise InputError(f'{path}: proposal {one.id} is accepted but is not as it was proposed; say decision = "edit"')
    return []


def _base_of(store: Store, held: ProposalsFile, path: Path | None) -> Specs:
    rows = store.rows("select base from schema_passes where run_id = ?", [held.made.run])
    if not rows and held.made.base:
        raise InputError(f"{path}: the schema it was made against is not in this review; name it with --base")
    return parse_schema(rows[0][0], "the schema of the proposals") if rows and rows[0][0] else ()


def _keep(
    review: Review, store: Store, author: str, specs: Specs, before: Specs, held: ProposalsFile, out: Path | None,
    left: Sequence[str], notes: list[str],
) -> FrozenVersion:  # fmt: skip
    key = schema_hash(specs)
    known = store.rows("select version, text from schema_versions where hash = ? order by version limit 1", [key])
    last = store.rows("select version, text from schema_versions order by version desc limit 1")
    version = known[0][0] if known else (last[0][0] + 1 if last else 1)
    head = f"# Extraction schema, version {version}, frozen by {toml_string(author)} at {now()}. Hash: {key}\n"
    text = known[0][1] if known else f"{head}\n{schema_toml(specs)}"
    target = out or review.folder / FOLDER / f"v{version}.toml"
    _require_free(target, text)
    decided = [one for one in held.proposals if one.decision]
    with store.transaction():
        if not known:
            row = {"version": version, "at_time": now(), "hash": key, "author": scrubbed(author), "run_id": held.made.run or None,
                   "base_hash": schema_hash(before) if before else None, "fields": len(specs), "text": text}  # fmt: skip
            store.append("schema_versions", [row])
        store.append("schema_decisions", _decisions(store, version, author, held.made.run, decided))
    if out is None:
        target.parent.mkdir(exist_ok=True)
    target.write_text(text, encoding="utf-8", newline="")
    earlier = [row for row in last if not known] or store.rows(
        "select version, text from schema_versions where version < ? order by version desc limit 1", [version]
    )
    since = parse_schema(earlier[0][1], f"version {earlier[0][0]}") if earlier else before
    counts = {name: sum(one.decision == name for one in decided) for name in ("accept", "edit", "refuse")}
    used = bool(review.protocol.fields) and schema_hash(review.protocol.fields) == key
    diff = compare(since, specs) if since else None
    return FrozenVersion(version, key, not known, target, len(specs), counts, tuple(left), diff, used, notes)


def _require_free(path: Path, text: str) -> None:
    if not path.parent.is_dir() and path.parent.name != FOLDER:
        raise InputError(f"{path}: there is no folder {path.parent}; make it first")
    if path.exists() and hashlib.sha256(path.read_bytes()).digest() != hashlib.sha256(text.encode()).digest():
        raise InputError(f"{path}: is there already and holds something else; name another file with --out")


def _decisions(store: Store, version: int, author: str, run_id: str, decided: Sequence[Proposal]) -> list[dict[str, object]]:
    """A row a decision; the same one again is no new row."""
    known = set(
        store.rows(
            "select proposal_id, decision, author, note, proposal from schema_decisions where version = ? "
            "and run_id is not distinct from ?",
            [version, run_id or None],
        )
    )
    rows = [
        {"at_time": now(), "version": version, "run_id": run_id or None, "proposal_id": one.id, "decision": one.decision,
         "author": scrubbed(author), "note": one.note or None, "proposal": one.model_dump_json()}
        for one in decided
    ]  # fmt: skip
    told = ("proposal_id", "decision", "author", "note", "proposal")
    return [row for row in rows if tuple(row[name] for name in told) not in known]


def named_schema(review: Review | None, store: Store | None, name: str) -> Specs:
    """A schema by what a person calls it: a version (`2` or `v2`), `review` for review.toml, a shipped name, or a TOML file."""
    number = name.removeprefix("v")
    if number.isdigit() and not name.endswith(".toml"):
        rows = store.rows("select text from schema_versions where version = ?", [int(number[:9])]) if store else []
        if not rows:
            known = [str(row[0]) for row in store.rows("select version from schema_versions order by 1")] if store else []
            raise InputError(
                f"there is no version {number}; " + (f"there are {', '.join(known)}" if known else "none is frozen yet")
            )
        return parse_schema(rows[0][0], f"version {number}")
    if name == "review" and review is not None:
        if not review.protocol.fields:
            raise InputError(f"{review.folder / 'review.toml'}: has no [[fields]] to take as a schema")
        return review.protocol.fields
    return load_schema(name)
