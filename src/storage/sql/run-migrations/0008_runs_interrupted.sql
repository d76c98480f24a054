-- 1 for a run that stopped where its graph asks for a human. Unknown, and so 0, for runs that ended before.
ALTER TABLE runs ADD COLUMN interrupted INTEGER NOT NULL DEFAULT 0;
