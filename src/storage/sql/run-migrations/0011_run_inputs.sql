-- Of kwargs what may be large: it is passed on as text. Null for null, and for runs that are older: theirs are in kwargs.

ALTER TABLE runs ADD COLUMN input TEXT;

ALTER TABLE runs ADD COLUMN command TEXT;
