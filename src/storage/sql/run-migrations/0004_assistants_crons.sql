-- Graphs with configurations of their own, as they are now. Times are epoch milliseconds.
CREATE TABLE assistants (
  assistant_id TEXT NOT NULL,
  deployment_id TEXT NOT NULL,
  workspace_id TEXT NOT NULL,
  graph_id TEXT NOT NULL,
  version BIGINT NOT NULL,
  name TEXT NOT NULL,
  description TEXT,
  config TEXT NOT NULL,
  context TEXT NOT NULL,
  metadata TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  PRIMARY KEY (assistant_id, deployment_id, workspace_id)
);

CREATE INDEX assistants_created ON assistants (deployment_id, workspace_id, created_at);

-- The same as they were at each version; `created_at` is when the version was made.
CREATE TABLE assistant_versions (
  assistant_id TEXT NOT NULL,
  deployment_id TEXT NOT NULL,
  workspace_id TEXT NOT NULL,
  graph_id TEXT NOT NULL,
  version BIGINT NOT NULL,
  name TEXT NOT NULL,
  description TEXT,
  config TEXT NOT NULL,
  context TEXT NOT NULL,
  metadata TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  PRIMARY KEY (assistant_id, deployment_id, workspace_id, version)
);

CREATE TABLE crons (
  cron_id TEXT NOT NULL,
  deployment_id TEXT NOT NULL,
  workspace_id TEXT NOT NULL,
  assistant_id TEXT NOT NULL,
  thread_id TEXT,
  on_run_completed TEXT NOT NULL,
  schedule TEXT NOT NULL,
  timezone TEXT,
  end_time BIGINT,
  next_run_date BIGINT,
  enabled INTEGER NOT NULL,
  caller TEXT NOT NULL,
  payload TEXT NOT NULL,
  metadata TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  PRIMARY KEY (cron_id, deployment_id, workspace_id)
);

CREATE INDEX crons_created ON crons (deployment_id, workspace_id, created_at);

CREATE INDEX crons_due ON crons (next_run_date) WHERE next_run_date IS NOT NULL;
