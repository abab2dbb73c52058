-- Everything is appended, nothing updated; the current state is a query (see the views in views.py).
-- One sequence orders all rows of all tables.
create sequence rows;

create table imports (
    import_id text primary key, seq bigint default nextval('rows'), at_time timestamptz,
    path text, sha256 text, format text, encoding text, receipt json
);
create table records (
    record_id text primary key, seq bigint default nextval('rows'), import_id text, position integer,
    title text, abstract text, abstract_status text, authors text[], year integer, journal text,
    doi text, pmid text, url text, kind text, source json
);
create table set_aside (
    seq bigint default nextval('rows'), import_id text, line integer, reason text, raw text, is_record boolean
);
create table documents (
    seq bigint default nextval('rows'), at_time timestamptz, document_id text, record_id text, path text, format text,
    state text, note text, title text, doi text, abstract text, sections json, "references" integer, matched_by text
);
create table gold (
    seq bigint default nextval('rows'), at_time timestamptz, record_id text, stage text, decision text, reason text, source text
);
create table gold_fields (
    seq bigint default nextval('rows'), at_time timestamptz, record_id text, field text, value json, source text
);
create table protocols (
    hash text primary key, seq bigint default nextval('rows'), at_time timestamptz, text text, criteria json
);
create table amendments (
    amendment_id text primary key, seq bigint default nextval('rows'), at_time timestamptz, author text, reason text,
    from_hash text, to_hash text, changes json
);
create table runs (
    run_id text primary key, seq bigint default nextval('rows'), at_time timestamptz, protocol_hash text,
    code_version text, models json
);
create table run_ends (
    seq bigint default nextval('rows'), run_id text, at_time timestamptz, status text, detail text, spent json
);
create table stage_versions (
    seq bigint default nextval('rows'), at_time timestamptz, run_id text, stage text, position integer,
    fingerprint text, criteria_hash text, referred text
);
create table calls (
    key text primary key, seq bigint default nextval('rows'), at_time timestamptz, run_id text, stage text, record_id text,
    reader text, purpose text, model text, revision text, engine text, request json,
    text text, reasoning text, finish_reason text, refused text,
    prompt_tokens integer, cached_tokens integer, completion_tokens integer, seconds double, logprobs json, raw text
);
create table failures (
    seq bigint default nextval('rows'), at_time timestamptz, run_id text, stage text, record_id text, key text,
    attempts integer, error text
);
create table readings (
    seq bigint default nextval('rows'), run_id text, stage text, fingerprint text, record_id text, reader text,
    decision text, score double, code text, detail text, reason text, orderly boolean, calls text[]
);
create table verdicts (
    seq bigint default nextval('rows'), at_time timestamptz, run_id text, stage text, fingerprint text, record_id text,
    document_id text, state text, score double, code text, reason text, policy text
);
create table extractions (
    seq bigint default nextval('rows'), run_id text, fingerprint text, record_id text, document_id text, reader text,
    field text, value json, quote text, quote_found boolean, error text
);
create table adjudications (
    adjudication_id text primary key, seq bigint default nextval('rows'), at_time timestamptz, record_id text, stage text,
    decision text, unsure boolean, who text, criterion text, note text, criteria_hash text
);
create table person_readings (
    seq bigint default nextval('rows'), at_time timestamptz, record_id text, stage text, who text, decision text,
    criteria_hash text
);
create table requeued (
    seq bigint default nextval('rows'), at_time timestamptz, adjudication_id text, amendment_id text, reason text
);
create table estimates (
    seq bigint default nextval('rows'), at_time timestamptz, run_id text, scope text, metric text, value double,
    low double, high double, n bigint, note text
);
