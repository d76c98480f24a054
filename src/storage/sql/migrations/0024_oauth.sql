-- Clients of OAuth, which registered themselves. Times are epoch milliseconds; redirect_uris is a JSON list of texts.
CREATE TABLE oauth_clients (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  redirect_uris TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  last_used_at BIGINT NOT NULL
);

CREATE INDEX oauth_clients_unused ON oauth_clients (last_used_at);

-- Codes of consents. Secrets are not stored, only their SHA-256. consent is JSON; used = 1: it was
-- exchanged.
CREATE TABLE oauth_codes (
  code_hash TEXT PRIMARY KEY,
  consent TEXT NOT NULL,
  expires_at BIGINT NOT NULL,
  used INTEGER NOT NULL DEFAULT 0
);

-- Access and refresh tokens, each of the API key of its consent. replaced = 1: a refresh token that was used.
-- ends_at: when the whole consent ends; null for never.
CREATE TABLE oauth_tokens (
  token_hash TEXT PRIMARY KEY,
  kind TEXT NOT NULL,
  api_key_id TEXT NOT NULL REFERENCES api_keys (id),
  client_id TEXT NOT NULL,
  resource TEXT NOT NULL,
  expires_at BIGINT NOT NULL,
  ends_at BIGINT,
  replaced INTEGER NOT NULL
);

CREATE INDEX oauth_tokens_of_key ON oauth_tokens (api_key_id);

CREATE INDEX oauth_tokens_expired ON oauth_tokens (expires_at);
