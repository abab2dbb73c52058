"""Records that are the arbiter's: people differ on them, are unsure, or two have spoken and no decision stands."""

from litcascade.store import Store

TAKEN = "seq in (select of_seq from withdrawn)"
# Takes the parameter criteria_{stage}; {stage} and {two} are filled in.
_SQL = f"""
with said as (
    select record_id, who || case when purpose = 'again' then ' (again)' else '' end as who, decision, unsure, seq, true as open
    from opinions where stage = '{{stage}}' and criteria_hash = $criteria_{{stage}} and not {TAKEN}
    union all
    select record_id, who, decision, false, seq, true from person_readings
    where stage = '{{stage}}' and criteria_hash = $criteria_{{stage}} and decision is not null and not {TAKEN}
    union all
    select record_id, who, decision, unsure, seq, false from adjudications where stage = '{{stage}}' and not {TAKEN}
    and adjudication_id not in (select adjudication_id from requeued where adjudication_id is not null)
),
newest as (select * from said qualify row_number() over (partition by record_id, lower(who) order by seq desc) = 1),
standing as (
    select record_id, arg_max(coalesce(decision, 'unsure'), seq) as word, max(seq) as seq
    from said where not open group by record_id
),
torn as (
    select newest.record_id, string_agg(who || ': ' || coalesce(decision, 'unsure'), ', ' order by who) as words
    from newest left join standing using (record_id) group by newest.record_id
    having bool_or(open)
    and (any_value(standing.word) = 'unsure'
        or max(newest.seq) filter (open) > coalesce(any_value(standing.seq), 0))
    and ((count(*) > 1 and (count(distinct decision) > 1 or bool_or(unsure)))
        or bool_or(open and standing.word is not null and decision is distinct from standing.word))
),
unsettled as (
    select o.record_id,
        'no decision stands: ' || string_agg(distinct o.who || ': ' || coalesce(o.decision, 'unsure'), ', ') as words
    from (
        select record_id, who, decision from opinions where {{two}} and stage = '{{stage}}' and purpose = 'double'
        and criteria_hash = $criteria_{{stage}} and not {TAKEN}
        qualify row_number() over (partition by record_id, lower(who) order by seq desc) = 1
    ) o join {{stage}} s using (record_id) where coalesce(decided_by, 'model') = 'model' and state not in ('duplicate', 'pending')
    group by o.record_id having count(*) > 1
)
select record_id, words from torn
union all
select record_id, words from unsettled where record_id not in (select record_id from torn)
"""


def differing(stage: str, *, two: bool) -> str:
    """SQL of the records (record_id, words) of a stage that are the arbiter's; `two`: two people read each of them blind."""
    return _SQL.replace("{stage}", stage).replace("{two}", str(two).lower())


_SPOKE = " or ".join(
    f"exists (select 1 from {table} where stage = $stage and (record_id = $record or record_id in "
    "(select record_id from current_clusters where kept_id = $record)))"
    for table in ("adjudications", "opinions", "person_readings")
)


def anybody_spoke(store: Store, stage: str, record_id: str) -> bool:
    """Whether a person ever said a word on a record, or on one that was joined to it; cheap, whatever the review's size."""
    return bool(store.rows(f"select {_SPOKE}", {"stage": stage, "record": record_id})[0][0])


def is_the_arbiters(store: Store, stage: str, criteria: str, record_id: str, *, two: bool) -> bool:
    """Whether one record is among them under a version of the criteria."""
    sql = f"select count(*) from ({differing(stage, two=two)}) where record_id = $record"
    return bool(store.rows(sql, {f"criteria_{stage}": criteria, "record": record_id})[0][0])
