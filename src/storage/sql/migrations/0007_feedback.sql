-- How feedback of a key is meant; `feedback_config` is JSON.
CREATE TABLE feedback_configs (
  workspace_id TEXT NOT NULL,
  feedback_key TEXT NOT NULL,
  feedback_config TEXT NOT NULL,
  is_lower_score_better INTEGER,
  is_enforced INTEGER,
  modified_at BIGINT NOT NULL,
  PRIMARY KEY (workspace_id, feedback_key)
);

-- Permits to send feedback without a key; the token itself is not stored.
CREATE TABLE feedback_tokens (
  workspace_id TEXT NOT NULL,
  id TEXT NOT NULL,
  token_hash TEXT NOT NULL UNIQUE,
  run_id TEXT NOT NULL,
  feedback_key TEXT NOT NULL,
  feedback_config TEXT,
  expires_at BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  PRIMARY KEY (workspace_id, id)
);

CREATE INDEX feedback_tokens_of_run ON feedback_tokens (workspace_id, run_id, created_at);
CREATE INDEX feedback_tokens_expiry ON feedback_tokens (workspace_id, expires_at);
