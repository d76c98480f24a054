-- What may be read without a key: a trace, or a thread of a project (`subject_id` by `kind`).
CREATE TABLE shares (
  token TEXT NOT NULL PRIMARY KEY,
  workspace_id TEXT NOT NULL,
  kind TEXT NOT NULL,
  project_id TEXT NOT NULL,
  subject_id TEXT NOT NULL,
  created_at BIGINT NOT NULL
);

CREATE INDEX shares_of_subject ON shares (workspace_id, kind, subject_id);
CREATE INDEX shares_of_project ON shares (workspace_id, project_id);

-- Secrets that all servers of this database share, made when they are first needed.
CREATE TABLE server_secrets (
  name TEXT NOT NULL PRIMARY KEY,
  secret TEXT NOT NULL
);
