-- Days that a project keeps its runs, and the tier that clients name for them.
ALTER TABLE projects ADD COLUMN retention_days BIGINT;
ALTER TABLE projects ADD COLUMN trace_tier TEXT;

-- What was deleted and is refused when it is sent again: TraceRuns and traces by id. Times are epoch milliseconds.
CREATE TABLE deleted_ids (
  workspace_id TEXT NOT NULL,
  id TEXT NOT NULL,
  expires_at BIGINT NOT NULL,
  PRIMARY KEY (workspace_id, id)
);

CREATE INDEX deleted_ids_expiry ON deleted_ids (expires_at);

-- Deletions, until they are done and as long as somebody may ask for them. `scope` is JSON.
CREATE TABLE deletion_jobs (
  workspace_id TEXT NOT NULL,
  id TEXT NOT NULL PRIMARY KEY,
  scope TEXT NOT NULL,
  status TEXT NOT NULL,
  deleted BIGINT NOT NULL,
  error TEXT,
  created_at BIGINT NOT NULL,
  finished_at BIGINT
);

CREATE INDEX deletion_jobs_unfinished ON deletion_jobs (status, created_at);

-- Attachments of deleted TraceRuns, which go when nothing else has them.
CREATE TABLE unused_blobs (
  sha256 TEXT NOT NULL PRIMARY KEY,
  noted_at BIGINT NOT NULL
);
