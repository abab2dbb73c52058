-- Why a person who is a reader decided as they did.
alter table person_readings add column criterion text;
alter table person_readings add column note text;
