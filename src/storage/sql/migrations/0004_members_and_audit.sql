-- The workspaces of a member with all_workspaces = 0.
CREATE TABLE member_workspaces (
  organization_id TEXT NOT NULL,
  user_id TEXT NOT NULL,
  workspace_id TEXT NOT NULL REFERENCES workspaces (id),
  PRIMARY KEY (organization_id, user_id, workspace_id),
  FOREIGN KEY (organization_id, user_id) REFERENCES members (organization_id, user_id)
);

CREATE INDEX api_keys_of_user ON api_keys (organization_id, user_id);

-- Who changed workspaces, members and keys. `seq` counts from 1 in each organization, in order of the changes.
CREATE TABLE audit_log (
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  seq BIGINT NOT NULL,
  id TEXT NOT NULL UNIQUE,
  at BIGINT NOT NULL,
  actor_api_key_id TEXT NOT NULL,
  actor_short_key TEXT NOT NULL,
  actor_user_id TEXT,
  action TEXT NOT NULL,
  subject_id TEXT NOT NULL,
  details TEXT NOT NULL,
  PRIMARY KEY (organization_id, seq)
);
