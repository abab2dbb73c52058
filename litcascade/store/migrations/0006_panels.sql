-- Benchmarks and panels: frozen splits, rationales, the cells of a grid, frozen rules, and audits of silver exclusions.
create table splits (
    seq bigint default nextval('rows'), at_time timestamptz, version text, stage text, record_id text, split text
);
create table split_versions (
    version text primary key, seq bigint default nextval('rows'), at_time timestamptz, stage text, declared json
);
create table rationales (
    seq bigint default nextval('rows'), at_time timestamptz, record_id text, stage text, who text, decision text, quote text,
    reasoning text, source text, criteria_hash text
);
create table bench_cells (
    fingerprint text primary key, seq bigint default nextval('rows'), at_time timestamptz, stage text, reader text, model text,
    revision text, engine text, family text, size double, prompt text, shots integer, positives double, rationales boolean,
    repeat integer, style text, examples text[], split_version text
);
create table bench_runs (
    seq bigint default nextval('rows'), at_time timestamptz, run_id text, fingerprint text, records integer, calls integer,
    seconds double
);
create table panel_rules (
    rule_id text primary key, seq bigint default nextval('rows'), at_time timestamptz, stage text, target double, family text,
    rule json, pools json, readers json, split_version text, chosen_on text, certified_on text, certificate json, promised boolean
);
create table audits (
    seq bigint default nextval('rows'), at_time timestamptz, audit_id text, stage text, record_id text, fingerprint text,
    population integer, seed bigint
);
