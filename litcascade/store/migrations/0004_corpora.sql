-- What export files carry beside title and abstract, and what of them is the same report or the same study.
alter table records add column pmcid text;
alter table records add column volume text;
alter table records add column issue text;
alter table records add column pages text;
alter table records add column year_note text;
alter table records add column status text;
alter table records add column labels json;
create table pairs (
    seq bigint default nextval('rows'), at_time timestamptz, version text, first_id text, second_id text, verdict text,
    rule text, why text, score double, who text
);
create table clusters (
    seq bigint default nextval('rows'), at_time timestamptz, version text, record_id text, kept_id text, study_id text,
    status text
);
