-- The checkpoints of a place (thread and namespace) are ordered by (era, checkpoint_id). Their ids are times: where a clock
-- has gone back, or is behind that of another server, the id of what is put later is lower, and a new era begins.
ALTER TABLE checkpoints ADD COLUMN era BIGINT NOT NULL DEFAULT 0;

CREATE INDEX checkpoints_era ON checkpoints (thread_id, checkpoint_ns, deployment_id, workspace_id, era) WHERE era > 0;
