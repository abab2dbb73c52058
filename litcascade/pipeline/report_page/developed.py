"""How the extraction schema came about, and free text made ready to be counted."""

import json
from collections.abc import Sequence
from itertools import pairwise

from litcascade.pipeline.review import Review
from litcascade.report.page import Block, Folded, Prose, absent
from litcascade.report.tables import Table
from litcascade.schemas.fields import parse_schema, schema_hash
from litcascade.schemas.fields.comparing import SchemaDiff, compare
from litcascade.store import Store

MOST_ITEMS = 1_000
_DECIDED = (
    "select d.version, d.proposal_id, d.proposal->>'kind', d.decision, coalesce(w.who, d.author), d.note, "
    "json_array_length(d.proposal->'evidence') from schema_decisions d left join (select p.*, taken from proposal_words p "
    "left join (select of_seq, min(seq) as taken from withdrawn group by 1) on of_seq = p.seq) w "
    "on w.run_id = d.run_id and w.proposal_id = d.proposal_id and w.decision = d.decision and w.seq < d.seq "
    "and (taken is null or taken > d.seq) qualify row_number() over (partition by d.seq order by w.seq desc nulls last) = 1 "
    "order by d.version, d.seq"
)
_ITEMS = (
    "select record_id, field, raw, case when flag is not null then null when step = 'compare' then "
    "concat_ws(' | ', first_system, second_system, basis, direction) when len(labels) = 0 then 'none fits' "
    "else array_to_string(labels, ' | ') end, how, flag, coalesce(evidence, words, quote), decided_by from harmonised "
    "order by field, record_id, seq, number"
)


def schema_blocks(review: Review, store: Store) -> list[Block]:
    """Passes over papers, what people decided of their proposals, and the frozen versions with what each changed."""
    blocks: list[Block] = []
    passes = store.rows(
        "select p.run_id, left(p.at_time::text, 10), p.reader, p.model, p.candidates, "
        "count(*) filter (fault is null and kind is not null), "
        "count(*) filter (fault is not null) from schema_passes p left join schema_proposals using (run_id) "
        "group by p.seq, p.run_id, p.at_time, p.reader, p.model, p.candidates order by p.seq"
    )
    versions = store.rows(
        "select version, left(at_time::text, 10), author, fields, hash, text from schema_versions order by version"
    )
    if not passes and not versions:
        return [absent("The extraction schema was not developed with litcascade (`litcascade schema draft`).")]
    papers, drafted, failed = store.rows(
        "select (select count(distinct record_id) from schema_samples), count(distinct record_id) filter (code is null), "
        "count(distinct record_id) filter (code is not null) from ("
        "select * from schema_reports qualify row_number() over (partition by fingerprint, record_id order by seq desc) = 1)"
    )[0]
    if papers:
        blocks.append(Prose(f"{papers} paper(s) were drawn; of {drafted} a raw report was read, of {failed} none could be."))
    if passes:
        header = ["pass", "date", "reader", "model", "candidates", "proposals", "invalid proposals"]
        blocks.append(Table("Passes that made proposals", header, [list(row) for row in passes]))
    blocks += _versions(review, versions)
    decided = store.rows(_DECIDED)
    if decided:
        header = ["version", "proposal", "kind", "decision", "who decided", "note", "pieces of evidence"]
        blocks.append(Folded(Table("Decisions on proposals", header, [list(row) for row in decided])))
    else:
        blocks.append(absent("No decision on a proposal is in a frozen version."))
    return blocks


def _versions(review: Review, versions: Sequence[tuple[object, ...]]) -> list[Block]:
    if not versions:
        return [absent("No version of the schema is frozen yet.")]
    used = schema_hash(review.protocol.fields) if review.protocol.fields else None
    rows: list[list[object]] = [[number, at, author, fields, key == used, key] for number, at, author, fields, key, _ in versions]
    header = ["version", "date", "frozen by", "fields", "in the protocol now", "hash"]
    blocks: list[Block] = [Table("Frozen versions of the schema", header, rows)]
    specs = [(row[0], parse_schema(str(row[5]), f"version {row[0]}")) for row in versions]
    told: list[list[object]] = []
    for (_, before), (number, after) in pairwise(specs):
        told += [[number, *change] for change in _changes(compare(before, after))]
    if told:
        header = ["version", "what", "field", "key", "before", "after"]
        blocks.append(Table("What each version changed", header, told, ["against the version before it"]))
    elif len(versions) > 1:
        blocks.append(absent("No version differs from the one before it."))
    return blocks


def _changes(diff: SchemaDiff) -> list[list[object]]:
    rows: list[list[object]] = [["added", name, None, None, None] for name in diff.added]
    rows += [["removed", name, None, None, None] for name in diff.removed]
    rows += [["renamed?", name, "name", name, new] for name, new in diff.renamed]
    return rows + [["changed", one.field, one.key, _short(one.before), _short(one.after)] for one in diff.changed]


def _short(value: object) -> str | None:
    return value if value is None or isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def harmonised_blocks(store: Store) -> list[Block]:
    """The labels in force, how many items and records have each, what waits for people, and the items with their words."""
    if not store.value("select count(*) from harmonise_versions where step in ('map', 'compare')"):
        return [absent("No free-text field was harmonised (`litcascade harmonise`).")]
    blocks: list[Block] = []
    sets = store.rows(
        "select field, version, left(at_time::text, 10), author, array_to_string(names, ', '), "
        "exists (select 1 from harmonised h where "
        "h.field = s.field and h.version = s.version) from label_sets s order by field, version"
    )
    if sets:
        header = ["field", "version", "date", "frozen by", "labels", "in force"]
        blocks.append(Table("Label sets", header, [list(row) for row in sets]))
    counts = store.rows(
        "select field, label, count(*), count(distinct record_id), count(*) filter (how = 'exact'), "
        "count(*) filter (how = 'model'), count(*) filter (how = 'person') from ("
        "select *, unnest(case when len(labels) = 0 then ['none fits'] else labels end) "
        "as label from harmonised where flag is null and step = 'map') group by 1, 2 order by 1, 3 desc, 2"
    )
    if counts:
        header = ["field", "label", "items", "records", "equal to a name or synonym", "by a model", "by a person"]
        blocks.append(Table("Harmonised values", header, [list(row) for row in counts]))
    else:
        blocks.append(absent("No item has a label that counts yet."))
    compared = store.rows(
        "select field, first_system, second_system, basis, direction, count(*), count(distinct record_id) from harmonised "
        "where step = 'compare' and first_system is not null "
        "and item_id not in (select item_id from harmonised where flag is not null) group by all order by 6 desc, 1, 2, 3, 4, 5"
    )
    if compared:
        header = ["field", "first", "second", "on what", "direction", "comparisons", "records"]
        blocks.append(Table("Comparisons", header, [list(row) for row in compared]))
    waits = store.rows(
        "select field, flag, count(distinct item_id) from harmonised where flag is not null group by 1, 2 order by 1, 3 desc, 2"
    )
    if waits:
        note = "none of these has a label that counts"
        blocks.append(Table("Items that wait for people", ["field", "why", "items"], [list(row) for row in waits], [note]))
    rows = [list(row) for row in store.rows(_ITEMS)]
    if len(rows) > MOST_ITEMS:
        blocks.append(Prose(f"The first {MOST_ITEMS:,} of {len(rows):,} items; `litcascade export harmonised FILE` writes all."))
    header = ["record", "field", "as extracted", "harmonised", "how", "waits because", "words", "decided by"]
    return [*blocks, Folded(Table("Harmonised items", header, rows[:MOST_ITEMS]))]
