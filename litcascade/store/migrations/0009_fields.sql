-- Extracted values with raw form, notes, the evidence of a group's rows (JSON), why a person should look, and from which call.
alter table extractions add column raw text;
alter table extractions add column notes text;
alter table extractions add column evidence json;
alter table extractions add column escalated text;
alter table extractions add column purpose text;
delete from meta where key = 'views'; -- the views are made anew for the stages of the protocol
