-- Browser sessions and tickets for one sign-in, each of one API key. Their secrets are not stored, only the SHA-256.
CREATE TABLE browser_sessions (
  id TEXT PRIMARY KEY,
  secret_hash TEXT NOT NULL UNIQUE,
  api_key_id TEXT NOT NULL REFERENCES api_keys (id),
  created_at BIGINT NOT NULL,
  last_used_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL
);

CREATE INDEX browser_sessions_of_key ON browser_sessions (api_key_id, last_used_at);

CREATE TABLE sign_in_tickets (
  secret_hash TEXT PRIMARY KEY,
  api_key_id TEXT NOT NULL REFERENCES api_keys (id),
  created_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL
);

CREATE INDEX sign_in_tickets_of_key ON sign_in_tickets (api_key_id, created_at);
