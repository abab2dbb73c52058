-- What people said of proposals for the schema at the desk, before a version is frozen; a decision on a harmonised item that
-- whoever made it took back counts no more.
create table proposal_words (
    seq bigint default nextval('rows'), at_time timestamptz, run_id text, proposal_id text, decision text, who text, note text,
    proposal json
);
create or replace view harmonised as
with current as (
    select newest.*, coalesce(label_sets.names, []::text[]) as names from (
        select * from harmonise_versions where step in ('map', 'compare')
        qualify row_number() over (partition by field, step order by seq desc) = 1) newest
    left join label_sets on label_sets.field = newest.field and label_sets.version = newest.version
),
items as (
    select harmonised_items.*, current.fingerprint, current.version, current.names
    from harmonised_items join current using (field, step, snapshot)
),
mapped as (
    select * from mappings qualify row_number() over (partition by fingerprint, unit_id order by seq desc) = 1
),
standing as (select * from mapping_decisions where seq not in (select of_seq from withdrawn)),
said as (
    select items.item_id as of_item, items.step as of_step, decision.*
    from items join standing decision on decision.unit_id = items.unit_id
        and (decision.item_id is null or decision.item_id = items.item_id)
    qualify row_number() over (partition by items.item_id, items.step
        order by decision.unsure or items.step = 'compare' or list_has_all(items.names, decision.labels) desc,
            decision.item_id is not null desc, decision.seq desc) = 1
),
stated as (
    select items.*, mapped.labels, mapped.words, mapped.how, mapped.flag, mapped.detail, mapped.seq as mapped_seq, said.who,
        said.labels as said_labels, said.decision_id, said.unsure, said.note,
        said.decision_id is not null and not said.unsure
            and (items.step = 'compare' or list_has_all(items.names, said.labels)) as decided
    from items
    left join mapped on mapped.fingerprint = items.fingerprint and mapped.unit_id = items.unit_id
    left join said on said.of_item = items.item_id and said.of_step = items.step
)
select stated.record_id, stated.field, stated."row", stated.step, stated.raw, stated.quote, stated.quote_found,
    case when decided then said_labels when stated.flag is null then stated.labels end as labels,
    case when decided then 'person' else stated.how end as how,
    case when decided then null
         when unsure then 'a person is unsure'
         when decision_id is not null then 'decided under other labels'
         when mapped_seq is null then 'not asked yet'
         else coalesce(stated.flag, tuple.flag) end as flag,
    case when decided or unsure then note when decision_id is not null then array_to_string(said_labels, ' | ')
         else stated.detail end as detail,
    case when not decided then stated.words end as words,
    case when stated.step = 'map' then stated.version end as version,
    tuple.first_system, tuple.second_system, tuple.basis, tuple.direction, tuple.evidence, tuple.number,
    case when decided then who end as decided_by, stated.reader, stated.item_id, stated.unit_id, stated.seq
from stated
left join comparisons tuple on stated.step = 'compare' and tuple.unit_id = stated.unit_id
    and tuple.fingerprint = case when decided then decision_id else stated.fingerprint end;
