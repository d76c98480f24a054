-- How many traces a workspace or a key may send in a month. One of the two ids is set.
CREATE TABLE usage_limits (
  id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  workspace_id TEXT UNIQUE REFERENCES workspaces (id),
  api_key_id TEXT UNIQUE REFERENCES api_keys (id),
  limit_type TEXT NOT NULL,
  limit_value BIGINT NOT NULL,
  mode TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL
);
