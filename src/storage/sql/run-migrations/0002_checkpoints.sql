-- What a graph has reached. `run_id` is the run that wrote the row, '' when none did (a state update, a copy). No row is
-- changed by another run: deleting a run's rows, by (thread_id, run_id), restores what was before it.

-- `checkpoint` has versions and times as JSON, without values; `refs` says for each channel that has a value which
-- checkpoint of the namespace wrote it: {"<channel>": "<checkpoint_id>"}.
CREATE TABLE checkpoints (
  workspace_id TEXT NOT NULL,
  deployment_id TEXT NOT NULL,
  thread_id TEXT NOT NULL,
  checkpoint_ns TEXT NOT NULL,
  checkpoint_id TEXT NOT NULL,
  parent_id TEXT,
  run_id TEXT NOT NULL,
  checkpoint TEXT NOT NULL,
  refs TEXT NOT NULL,
  metadata TEXT NOT NULL,
  PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id, deployment_id, workspace_id)
);

-- The values of channels, one row for each time that one changed. `type` is json or bytes (base64).
CREATE TABLE checkpoint_blobs (
  workspace_id TEXT NOT NULL,
  deployment_id TEXT NOT NULL,
  thread_id TEXT NOT NULL,
  checkpoint_ns TEXT NOT NULL,
  checkpoint_id TEXT NOT NULL,
  channel TEXT NOT NULL,
  version TEXT NOT NULL,
  run_id TEXT NOT NULL,
  type TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id, channel, deployment_id, workspace_id)
);

-- What tasks have written after a checkpoint. Several runs may have written the same (task_id, idx): of special writes
-- (idx < 0) the last counts, of others the first, by `written_at` (microseconds).
CREATE TABLE checkpoint_writes (
  workspace_id TEXT NOT NULL,
  deployment_id TEXT NOT NULL,
  thread_id TEXT NOT NULL,
  checkpoint_ns TEXT NOT NULL,
  checkpoint_id TEXT NOT NULL,
  task_id TEXT NOT NULL,
  idx BIGINT NOT NULL,
  run_id TEXT NOT NULL,
  written_at BIGINT NOT NULL,
  channel TEXT NOT NULL,
  type TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id, task_id, idx, run_id, deployment_id, workspace_id)
);

