-- Threads and their runs. Ids that clients choose are unique within a tenant (workspace and deployment) only; keys begin
-- with what differs most. Times are epoch milliseconds. What may be long stands last, so that the rest is read without it.

CREATE TABLE threads (
  thread_id TEXT NOT NULL,
  deployment_id TEXT NOT NULL,
  workspace_id TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  state_updated_at BIGINT NOT NULL,
  -- As shown: busy while a run is active, otherwise as rest_status.
  status TEXT NOT NULL,
  rest_status TEXT NOT NULL,
  -- 1 when the last checkpoint has nodes to go on with.
  has_next INTEGER NOT NULL,
  -- Of the run that was created last; neither ever goes back.
  last_seq BIGINT NOT NULL,
  last_run_at BIGINT NOT NULL,
  -- Earliest due_at of the pending runs while none is running; null when there is nothing to claim.
  next_due BIGINT,
  ttl_strategy TEXT,
  ttl_ms BIGINT,
  expires_at BIGINT,
  error TEXT,
  metadata TEXT NOT NULL,
  config TEXT NOT NULL,
  interrupts TEXT NOT NULL,
  PRIMARY KEY (thread_id, deployment_id, workspace_id)
);

CREATE INDEX threads_created ON threads (deployment_id, workspace_id, created_at, thread_id);

CREATE INDEX threads_due ON threads (next_due) WHERE next_due IS NOT NULL;

CREATE INDEX threads_expiring ON threads (expires_at) WHERE expires_at IS NOT NULL;

-- Apart from threads, because values may be large and a thread's row is written several times a run.
CREATE TABLE thread_states (
  thread_id TEXT NOT NULL,
  deployment_id TEXT NOT NULL,
  workspace_id TEXT NOT NULL,
  state_values TEXT,
  PRIMARY KEY (thread_id, deployment_id, workspace_id)
);

CREATE TABLE runs (
  run_id TEXT NOT NULL,
  thread_id TEXT NOT NULL,
  deployment_id TEXT NOT NULL,
  workspace_id TEXT NOT NULL,
  -- Order of creation within the thread.
  seq BIGINT NOT NULL,
  status TEXT NOT NULL,
  assistant_id TEXT NOT NULL,
  graph_id TEXT NOT NULL,
  multitask_strategy TEXT NOT NULL,
  attempt INTEGER NOT NULL,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  due_at BIGINT NOT NULL,
  started_at BIGINT,
  ended_at BIGINT,
  trace_id TEXT,
  -- Asked for while it was running.
  cancel_action TEXT,
  lease_owner TEXT,
  lease_token TEXT,
  lease_until BIGINT,
  caller TEXT NOT NULL,
  error TEXT,
  metadata TEXT NOT NULL,
  kwargs TEXT NOT NULL,
  partial_messages TEXT,
  PRIMARY KEY (run_id, deployment_id, workspace_id)
);

CREATE UNIQUE INDEX runs_of_thread ON runs (thread_id, deployment_id, workspace_id, seq);

-- One running run per thread, whatever happens.
CREATE UNIQUE INDEX runs_running ON runs (thread_id, deployment_id, workspace_id) WHERE status = 'running';

CREATE INDEX runs_pending ON runs (thread_id, deployment_id, workspace_id, due_at, seq) WHERE status = 'pending';
