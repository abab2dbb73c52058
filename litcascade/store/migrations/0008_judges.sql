-- Judges that ask models, samples of items for people to label, their labels, and what the labels show of the judges.
create table judge_versions (
    seq bigint default nextval('rows'), at_time timestamptz, run_id text, judge text, fingerprint text, reader text, model text,
    revision text, engine text, family text, rests_on json
);
create table judgements (
    seq bigint default nextval('rows'), at_time timestamptz, run_id text, judge text, fingerprint text, unit_id text,
    record_id text, field text, document_id text, gold text, item text, verdict boolean, score double, first_verdict boolean,
    second_verdict boolean, quote text, code text, detail text, calls text[]
);
create table judge_samples (
    seq bigint default nextval('rows'), at_time timestamptz, sample_id text, round integer, judge text, field text, item_id text,
    record_id text, item text, others text[], document_id text, population integer, seed bigint, declared json
);
create table judge_labels (
    seq bigint default nextval('rows'), at_time timestamptz, judge text, field text, item_id text, record_id text, label boolean,
    who text, note text
);
create table judge_calibrations (
    seq bigint default nextval('rows'), at_time timestamptz, calibration_id text, judge text, field text, measure text,
    fingerprints json, figures json, value double, low double, high double, support text, note text
);
