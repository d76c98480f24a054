-- Named lists of a project, shared in its workspace. `params` is JSON; created_by is a user, null for a service key.
CREATE TABLE project_views (
  workspace_id TEXT NOT NULL,
  project_id TEXT NOT NULL,
  id TEXT NOT NULL,
  name TEXT NOT NULL,
  description TEXT,
  filter TEXT,
  params TEXT NOT NULL,
  created_by TEXT,
  created_at BIGINT NOT NULL,
  modified_at BIGINT NOT NULL,
  PRIMARY KEY (workspace_id, project_id, id),
  UNIQUE (workspace_id, project_id, name)
);
