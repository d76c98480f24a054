-- SCIM 2.0: accounts of members and groups that a provider keeps up to date. Times are epoch milliseconds.

-- Tokens of providers; only their SHA-256 is stored. provider: the id of the sign-in provider.
CREATE TABLE scim_tokens (
  id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  token_hash TEXT NOT NULL UNIQUE,
  provider TEXT NOT NULL,
  description TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  expires_at BIGINT,
  last_used_at BIGINT
);

-- What SCIM has said of a member. user_key: user_name in lower case. by_groups = 1: SCIM decides about its rights.
CREATE TABLE scim_users (
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  user_id TEXT NOT NULL,
  user_name TEXT NOT NULL,
  user_key TEXT NOT NULL,
  external_id TEXT,
  given_name TEXT,
  family_name TEXT,
  by_groups INTEGER NOT NULL,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  PRIMARY KEY (organization_id, user_id),
  UNIQUE (organization_id, user_key),
  UNIQUE (organization_id, external_id)
);

-- name_key: display_name in lower case.
CREATE TABLE scim_groups (
  id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  display_name TEXT NOT NULL,
  name_key TEXT NOT NULL,
  external_id TEXT,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  UNIQUE (organization_id, name_key)
);

CREATE TABLE scim_group_members (
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  group_id TEXT NOT NULL,
  user_id TEXT NOT NULL,
  PRIMARY KEY (group_id, user_id)
);

CREATE INDEX scim_groups_of_user ON scim_group_members (organization_id, user_id);
