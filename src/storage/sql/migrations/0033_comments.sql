-- What people wrote about TraceRuns. `author` is the name at that time; `user_id` is null for a service key.
CREATE TABLE comments (
  id TEXT NOT NULL PRIMARY KEY,
  workspace_id TEXT NOT NULL,
  trace_id TEXT NOT NULL,
  run_id TEXT NOT NULL,
  text TEXT NOT NULL,
  user_id TEXT,
  api_key_id TEXT NOT NULL,
  author TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  edited_at BIGINT
);

CREATE INDEX comments_of_trace ON comments (workspace_id, trace_id);
CREATE INDEX comments_of_run ON comments (workspace_id, run_id);

CREATE TABLE comment_mentions (
  comment_id TEXT NOT NULL,
  user_id TEXT NOT NULL,
  workspace_id TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  PRIMARY KEY (comment_id, user_id)
);

CREATE INDEX comment_mentions_of_user ON comment_mentions (workspace_id, user_id, created_at);
