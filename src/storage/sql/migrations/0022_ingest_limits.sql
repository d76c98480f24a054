-- Runs and bytes that may be sent in a minute; null = any number. api_key_id is '' for the workspace as a whole.
CREATE TABLE ingest_limits (
  workspace_id TEXT NOT NULL REFERENCES workspaces (id),
  api_key_id TEXT NOT NULL,
  runs_per_minute BIGINT,
  bytes_per_minute BIGINT,
  PRIMARY KEY (workspace_id, api_key_id)
);
