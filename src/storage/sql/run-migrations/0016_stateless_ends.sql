-- What is left of a stateless run for ten minutes after its end: the thread whose log has its stream, and the answer of
-- requests that wait for the run at another server.
CREATE TABLE stateless_ends (
  run_id TEXT NOT NULL,
  deployment_id TEXT NOT NULL,
  workspace_id TEXT NOT NULL,
  thread_id TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  ended_at BIGINT NOT NULL,
  -- As of a run; 'deleted' after a rollback.
  status TEXT NOT NULL,
  caller TEXT NOT NULL,
  -- Of the thread.
  metadata TEXT NOT NULL,
  -- JSON; null for {}, and on SQLite for values: there no other server waits.
  answer TEXT,
  PRIMARY KEY (run_id, deployment_id, workspace_id)
);

CREATE INDEX stateless_ends_age ON stateless_ends (ended_at);
