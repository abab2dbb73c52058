-- How reports were read: by criterion, how much of the text was seen, and tokens as tokenizers counted them.
alter table readings add column seen double;
alter table verdicts add column seen double;
alter table verdicts add column criterion text;
create table criterion_answers (
    seq bigint default nextval('rows'), run_id text, stage text, fingerprint text, record_id text, document_id text, reader text,
    criterion text, met text, quote text, quote_found boolean
);
create table token_counts (
    model text, revision text, text_key text, tokens integer, primary key (model, revision, text_key)
);
