-- Runs that were executed, for usage reports: one row for each, written in the transaction that ends the run. The rows
-- stay when runs, threads and deployments are deleted. `user_id` null: the run has no user.
CREATE TABLE run_usage (
  workspace_id TEXT NOT NULL,
  started_at BIGINT NOT NULL,
  run_id TEXT NOT NULL,
  deployment_id TEXT NOT NULL,
  api_key_id TEXT NOT NULL,
  user_id TEXT,
  nodes BIGINT NOT NULL,
  PRIMARY KEY (workspace_id, started_at, run_id, deployment_id)
);

-- Names of deployments that have been served, also of deleted ones.
CREATE TABLE deployment_names (
  deployment_id TEXT NOT NULL,
  workspace_id TEXT NOT NULL,
  name TEXT NOT NULL,
  PRIMARY KEY (deployment_id, workspace_id)
);
