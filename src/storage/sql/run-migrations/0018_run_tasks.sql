-- The A2A task that a run belongs to: of its metadata, or of the waiting run that it answers.
ALTER TABLE runs ADD COLUMN a2a_task TEXT;

CREATE INDEX runs_of_tasks ON runs (deployment_id, workspace_id, a2a_task, seq) WHERE a2a_task IS NOT NULL;
