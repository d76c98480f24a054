-- Webhooks of runs: a row is made with its run, and is due from the run's end until it was told or given up.
CREATE TABLE webhooks (
  run_id TEXT NOT NULL,
  deployment_id TEXT NOT NULL,
  workspace_id TEXT NOT NULL,
  -- Null while the run is active. While a process tells it: when another may, should that one be gone.
  due_at BIGINT,
  -- The instance that tells it.
  taken_by TEXT,
  -- How often it was told in vain.
  tries INTEGER NOT NULL,
  url TEXT NOT NULL,
  -- The run as it ended and its values, JSON: the run itself may be gone by then.
  run TEXT,
  run_values TEXT,
  PRIMARY KEY (run_id, deployment_id, workspace_id)
);

CREATE INDEX webhooks_due ON webhooks (due_at) WHERE due_at IS NOT NULL;
