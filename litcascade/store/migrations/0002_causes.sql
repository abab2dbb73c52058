-- Causes of errors, as a person tagged them.
create table causes (
    seq bigint default nextval('rows'), at_time timestamptz, record_id text, stage text, cause text, who text
);
