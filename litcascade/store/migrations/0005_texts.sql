-- What a full text holds beside its sections: tables, figures, footnotes, cited works and flags, as JSON; and what read it.
alter table documents add column content json;
alter table documents add column parser text;
