-- The revision of the deployment that executes the last attempt; null: the deployment has none.
ALTER TABLE runs ADD COLUMN revision_id TEXT;
