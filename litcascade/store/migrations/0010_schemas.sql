-- Schema development: the sample, raw reports and their candidates, proposals, decisions of people, frozen versions.
create table schema_samples (
    seq bigint default nextval('rows'), at_time timestamptz, seed bigint, record_id text
);
create table schema_drafts (
    seq bigint default nextval('rows'), at_time timestamptz, run_id text, fingerprint text, reader text, model text, revision text,
    engine text, goals text
);
create table schema_reports (
    seq bigint default nextval('rows'), at_time timestamptz, run_id text, fingerprint text, record_id text, document_id text,
    candidates integer, windows integer, unread text[], faults text[], flags text[], seen double, code text, detail text,
    calls text[]
);
create table schema_candidates (
    seq bigint default nextval('rows'), run_id text, fingerprint text, document_id text, candidate_id text, record_id text,
    "window" integer, name text, kind text, definition text, example text, quote text, quote_found boolean, remark text,
    flags text[]
);
create table schema_passes (
    run_id text primary key, seq bigint default nextval('rows'), at_time timestamptz, reader text, model text, revision text,
    engine text, goals text, candidates integer, base_hash text, base text, file text, sha256 text
);
create table schema_proposals (
    seq bigint default nextval('rows'), run_id text, proposal_id text, kind text, content text, proposal json, fault text
);
create table schema_versions (
    version integer primary key, seq bigint default nextval('rows'), at_time timestamptz, hash text, author text, run_id text,
    base_hash text, fields integer, text text
);
create table schema_decisions (
    seq bigint default nextval('rows'), at_time timestamptz, version integer, run_id text, proposal_id text, decision text,
    author text, note text, proposal json
);
