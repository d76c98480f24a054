-- Invitations that wait to be accepted. Their links have a secret, of which only the SHA-256 is stored. email is null
-- for an invitation of whoever has the link; workspace_ids is a JSON list, or null for all workspaces. created_by is the
-- user who invites, null for a service key.
CREATE TABLE invites (
  id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  secret_hash TEXT NOT NULL UNIQUE,
  email TEXT,
  role TEXT NOT NULL,
  workspace_ids TEXT,
  created_by TEXT REFERENCES users (id),
  created_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL
);

CREATE INDEX invites_of_organization ON invites (organization_id, created_at);

-- 1: the member said its address itself, with an invitation of whoever has the link. Nobody is recognised by it.
ALTER TABLE members ADD COLUMN email_claimed INTEGER NOT NULL DEFAULT 0;
