-- Who may do what: organization, its workspaces, members and keys (platform-api §1). Times are epoch milliseconds.
CREATE TABLE organizations (
  id TEXT PRIMARY KEY,
  display_name TEXT NOT NULL,
  created_at BIGINT NOT NULL
);

CREATE TABLE workspaces (
  id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  display_name TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  deleted_at BIGINT
);

CREATE TABLE users (
  id TEXT PRIMARY KEY,
  email TEXT NOT NULL UNIQUE,
  full_name TEXT,
  created_at BIGINT NOT NULL
);

-- all_workspaces = 1: every workspace of the organization, also later ones.
CREATE TABLE members (
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  user_id TEXT NOT NULL REFERENCES users (id),
  role TEXT NOT NULL,
  all_workspaces INTEGER NOT NULL,
  created_at BIGINT NOT NULL,
  PRIMARY KEY (organization_id, user_id)
);

-- user_id is null for a service key. A deleted key stays, so that its short_key remains readable in reports (D-7).
CREATE TABLE api_keys (
  id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  user_id TEXT REFERENCES users (id),
  key_hash TEXT NOT NULL UNIQUE,
  short_key TEXT NOT NULL,
  description TEXT NOT NULL,
  role TEXT NOT NULL,
  read_only INTEGER NOT NULL,
  all_workspaces INTEGER NOT NULL,
  default_workspace_id TEXT REFERENCES workspaces (id),
  created_at BIGINT NOT NULL,
  expires_at BIGINT,
  last_used_at BIGINT,
  deleted_at BIGINT,
  UNIQUE (organization_id, short_key)
);

-- The workspaces of a key with all_workspaces = 0.
CREATE TABLE api_key_workspaces (
  api_key_id TEXT NOT NULL REFERENCES api_keys (id),
  workspace_id TEXT NOT NULL REFERENCES workspaces (id),
  PRIMARY KEY (api_key_id, workspace_id)
);
