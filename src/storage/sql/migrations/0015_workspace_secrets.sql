-- Secrets of workspaces for calls of model providers; `sealed` is encrypted, `hosts` is a JSON list.
CREATE TABLE workspace_secrets (
  workspace_id TEXT NOT NULL,
  key TEXT NOT NULL,
  sealed TEXT NOT NULL,
  hosts TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  PRIMARY KEY (workspace_id, key)
);
