-- What the quote of an extracted value is worth, why, where it stands (characters of the text, part and page), and the near miss.
alter table extractions add column support text;
alter table extractions add column because text;
alter table extractions add column quote_start integer;
alter table extractions add column quote_end integer;
alter table extractions add column place text;
alter table extractions add column near text;
delete from meta where key = 'views'; -- the views are made anew for the stages of the protocol
