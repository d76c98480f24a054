-- Sign-in of people with OpenID Connect. Times are epoch milliseconds.

-- Who ended the access of a member, `groups` or `scim`; null for a member with access. Keys and sessions of a suspended
-- member are refused, and its records stay.
ALTER TABLE members ADD COLUMN suspended_by TEXT;

-- Which member a person of a provider is. by_groups = 1: its rights came from groups of the provider.
CREATE TABLE sign_in_identities (
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  issuer TEXT NOT NULL,
  subject TEXT NOT NULL,
  user_id TEXT NOT NULL REFERENCES users (id),
  by_groups INTEGER NOT NULL,
  created_at BIGINT NOT NULL,
  PRIMARY KEY (organization_id, issuer, subject)
);

CREATE INDEX sign_in_identities_of_user ON sign_in_identities (organization_id, user_id);

-- Sign-ins that wait for the answer of the provider. The browser has the secret, of which only the SHA-256 is stored.
CREATE TABLE sign_in_attempts (
  secret_hash TEXT PRIMARY KEY,
  provider TEXT NOT NULL,
  state TEXT NOT NULL,
  nonce TEXT NOT NULL,
  code_verifier TEXT NOT NULL,
  return_to TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL
);

CREATE INDEX sign_in_attempts_by_end ON sign_in_attempts (expires_at);

-- Browser sessions of members, without a key. `tokens`: those of the provider, encrypted; null without. checked_at: when
-- the provider was last asked whether the rights still hold.
CREATE TABLE member_sessions (
  id TEXT PRIMARY KEY,
  secret_hash TEXT NOT NULL UNIQUE,
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  user_id TEXT NOT NULL REFERENCES users (id),
  provider TEXT NOT NULL,
  tokens TEXT,
  checked_at BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  last_used_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL
);

CREATE INDEX member_sessions_of_user ON member_sessions (organization_id, user_id, last_used_at);
