"""The current state as views with plain names: one a stage, and a few for people who open the file with SQL."""

from collections.abc import Sequence

NEEDS_TEXT = {"full_text", "extraction"}

_CURRENT = """
create or replace view current_stages as
select stage, arg_max(fingerprint, seq) as fingerprint, arg_max(criteria_hash, seq) as criteria_hash,
       arg_max(referred, seq) as referred, arg_max(run_id, seq) as run_id
from stage_versions group by stage;

create or replace view current_clusters as
select record_id, kept_id, study_id, status from clusters where version = (select arg_max(version, seq) from clusters);

create or replace view current_pairs as
select * from pairs
where (who <> 'rules' or version = (select arg_max(version, seq) from clusters)) and seq not in (select of_seq from withdrawn)
qualify row_number() over (
    partition by least(first_id, second_id), greatest(first_id, second_id) order by who <> 'rules' desc, seq desc) = 1;

create or replace view current_documents as
with own as (
    select documents.* replace (coalesce(kept_id, documents.record_id) as record_id), documents.record_id as of_record
    from documents left join current_clusters using (record_id) where documents.record_id is not null
)
select * exclude (of_record) from own
qualify row_number() over (partition by record_id order by of_record = record_id desc, seq desc) = 1;

create or replace view current_gold as
with newest as (
    select * from gold qualify row_number() over (partition by record_id, stage order by seq desc) = 1
), own as (
    select newest.* replace (coalesce(kept_id, newest.record_id) as record_id) from newest
    left join current_clusters on current_clusters.record_id = newest.record_id
)
select * from own
qualify row_number() over (partition by record_id, stage order by decision = 'include' desc, seq desc) = 1;

create or replace view current_gold_fields as
with own as (
    select gold_fields.* replace (coalesce(kept_id, gold_fields.record_id) as record_id), gold_fields.record_id as of_record
    from gold_fields left join current_clusters using (record_id)
)
select * exclude (of_record) from own
qualify row_number() over (partition by record_id, field order by of_record = record_id desc, seq desc) = 1;
"""

_CAUSES = """
create or replace view current_causes as
select * from causes where seq not in (select of_seq from withdrawn)
qualify row_number() over (partition by record_id, stage order by seq desc) = 1;
"""

_PANELS = """
create or replace view current_rationales as
select rationales.* replace (coalesce(kept_id, rationales.record_id) as record_id)
from rationales left join current_clusters using (record_id) where rationales.seq not in (select of_seq from withdrawn)
qualify row_number() over (partition by coalesce(kept_id, rationales.record_id), stage order by rationales.seq desc) = 1;

create or replace view bench_readings as
with newest as (
    select * from readings where fingerprint like 'bench:%'
    qualify row_number() over (partition by fingerprint, record_id order by seq desc) = 1
)
select cell.reader as cell, cell.stage, model, family, size, prompt, shots, positives, rationales, repeat, newest.record_id,
       splits.split, gold.decision as gold, newest.decision, newest.score, newest.code, newest.detail, newest.orderly,
       newest.calls, cell.fingerprint
from bench_cells cell join newest using (fingerprint)
left join splits on splits.version = cell.split_version and splits.record_id = newest.record_id
left join current_gold gold on gold.record_id = newest.record_id and gold.stage = cell.stage;
"""

_STAGE = """
create or replace view {stage} as
with entered as ({entered}),
verdict as (
    select verdicts.* from verdicts
    join current_stages on current_stages.stage = verdicts.stage and current_stages.fingerprint = verdicts.fingerprint
    where verdicts.stage = '{stage}'
    qualify row_number() over (partition by record_id order by verdicts.seq desc) = 1
),
said as (
    select adjudications.*, requeued.adjudication_id is not null as requeued from adjudications
    left join (select distinct adjudication_id from requeued) requeued using (adjudication_id)
    where stage = '{stage}' and adjudications.seq not in (select of_seq from withdrawn)
    qualify row_number() over (partition by record_id order by adjudications.seq desc) = 1
),
decision as (
    select said.* replace (coalesce(cluster.kept_id, said.record_id) as record_id),
        min(decision) over same <> max(decision) over same and max(said.seq) over same < max(joined.seq) over same as torn
    from said
    left join current_clusters cluster on cluster.record_id = said.record_id
    left join (
        select record_id, kept_id, min(seq) as seq from clusters where record_id <> kept_id group by record_id, kept_id
    ) joined on joined.record_id = said.record_id and joined.kept_id = cluster.kept_id
    window same as (partition by coalesce(cluster.kept_id, said.record_id))
    qualify row_number() over (partition by coalesce(cluster.kept_id, said.record_id) order by said.seq desc) = 1
),
heard as (
    select coalesce(kept_id, person_readings.record_id) as record_id, max(seq) as seq
    from person_readings left join current_clusters using (record_id)
    where stage = '{stage}' and criteria_hash = (select criteria_hash from current_stages where stage = '{stage}')
    group by 1
),
stated as (
    select entered.record_id,
        case
            {duplicate}
            when decision.requeued then 'referred'
            when decision.torn then 'referred'
            when decision.unsure then 'referred'
            when decision.decision = 'include' then 'included'
            when decision.decision = 'exclude' then 'excluded'
            when decision.decision = 'extracted' then 'extracted'
            {no_document}
            when verdict.state is null then 'pending'
            {other_document}
            when heard.seq > verdict.seq then 'pending'
            else verdict.state
        end as state,
        case
            when decision.requeued then 'decided under earlier criteria'
            when decision.torn then 'decided otherwise on a duplicate'
            when decision.unsure then 'a person is unsure'
            when decision.decision is not null then null
            else verdict.code
        end as code,
        case when decision.decision is not null or decision.unsure then decision.note else verdict.reason end as reason,
        case when decision.decision is not null then decision.criterion else verdict.criterion end as criterion,
        verdict.score as score,
        verdict.seen as seen,
        case when decision.decision is not null and not decision.requeued and not coalesce(decision.torn, false) then decision.who
             when verdict.state is not null then 'model' end as decided_by,
        {document_column} as document_id
    from entered
    left join verdict on verdict.record_id = entered.record_id
    left join decision on decision.record_id = entered.record_id
    left join heard on heard.record_id = entered.record_id
    {cluster_join}
    {document_join}
)
select stated.*,
    stated.state in ('included', 'extracted')
    or (stated.state = 'referred' and coalesce((select referred from current_stages where stage = '{stage}'), 'wait') = 'pass')
        as passes
from stated;
"""

_PEOPLE = """
create or replace view queue as {queue};
create or replace view extracted as
with mapped as (
    select extractions.* replace (coalesce(kept_id, extractions.record_id) as record_id)
    from extractions left join current_clusters using (record_id)
),
standing as (
    select extractions.* from mapped extractions
    join extraction on extraction.record_id = extractions.record_id and extraction.state = 'extracted'
    where (
        extractions.fingerprint = (select fingerprint from current_stages where stage = 'extraction')
        and extractions.document_id is not distinct from extraction.document_id)
    or (extractions.fingerprint = 'person' and extractions.run_id not in (
        select adjudication_id from requeued union all
        select adjudication_id from adjudications where seq in (select of_seq from withdrawn)))
)
select * from standing
qualify row_number() over (partition by record_id, field, fingerprint = 'person', reader order by seq desc) = 1
    and (fingerprint = 'person' or not max(fingerprint = 'person') over (partition by record_id, field))
    and (fingerprint <> 'person' or seq = max(seq) over (partition by record_id, field));
create or replace view ledger as {ledger};
"""


def view_sql(stages: Sequence[str]) -> str:
    """The SQL of all views for the stages of a protocol, in their order; stages not done are views without rows."""
    parts = [_CURRENT, _CAUSES, _PANELS]
    upstream: str | None = None
    for stage in ("title_abstract", "full_text", "extraction"):
        done = stage in stages
        if not done:
            entered = "select record_id from records where false"
        elif upstream is None:
            entered = "select record_id from records"
        else:
            entered = f"select record_id from {upstream} where passes"
        parts.append(_stage_sql(stage, entered, is_first=done and upstream is None))
        upstream = stage if done else upstream
    shown = list(stages) or ["title_abstract"]
    queue = " union all ".join(
        f"select '{s}' as stage, record_id, state, code, reason, score from {s} where state in ('referred', 'not retrieved')"
        for s in shown
    )
    ledger = " union all ".join(f"select '{s}' as stage, state, count(*) as records from {s} group by state" for s in shown)
    parts.append(_PEOPLE.format(queue=queue, ledger=ledger))
    return "\n".join(parts)


def _stage_sql(stage: str, entered: str, *, is_first: bool) -> str:
    text = stage in NEEDS_TEXT
    return _STAGE.format(
        stage=stage,
        entered=entered,
        duplicate="when cluster.kept_id <> entered.record_id then 'duplicate'" if is_first else "",
        cluster_join="left join current_clusters cluster on cluster.record_id = entered.record_id" if is_first else "",
        no_document="when document.document_id is null then 'not retrieved'" if text else "",
        other_document="when verdict.document_id is distinct from document.document_id then 'pending'" if text else "",
        document_column="document.document_id" if text else "null",
        document_join="left join current_documents document on document.record_id = entered.record_id" if text else "",
    )
