-- The desk: opinions, which settle nothing alone, and rows that whoever wrote them took back.
create table opinions (
    seq bigint default nextval('rows'), at_time timestamptz, record_id text, stage text, who text, decision text, unsure boolean,
    criterion text, note text, purpose text, criteria_hash text
);
create table withdrawn (
    seq bigint default nextval('rows'), at_time timestamptz, of_seq bigint not null, kind text, who text
);
delete from meta where key = 'views'; -- the views are made anew for the stages of the protocol
