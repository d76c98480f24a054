-- Own prices of a workspace; costs are decimal strings of dollars per token, times epoch microseconds.
CREATE TABLE model_prices (
  workspace_id TEXT NOT NULL,
  id TEXT NOT NULL PRIMARY KEY,
  name TEXT NOT NULL,
  match_pattern TEXT NOT NULL,
  match_path TEXT NOT NULL,
  provider TEXT,
  start_time BIGINT,
  prompt_token_threshold BIGINT,
  prompt_cost TEXT NOT NULL,
  completion_cost TEXT NOT NULL,
  prompt_cost_details TEXT NOT NULL,
  completion_cost_details TEXT NOT NULL,
  created_at BIGINT NOT NULL
);

CREATE INDEX model_prices_of_workspace ON model_prices (workspace_id, created_at);

-- Jobs that compute stored costs again. `position` is where a job that was interrupted goes on.
CREATE TABLE reprice_jobs (
  workspace_id TEXT NOT NULL,
  id TEXT NOT NULL PRIMARY KEY,
  status TEXT NOT NULL,
  start_time BIGINT NOT NULL,
  end_time BIGINT NOT NULL,
  project_ids TEXT,
  position TEXT,
  progress DOUBLE PRECISION NOT NULL,
  examined BIGINT NOT NULL,
  changed BIGINT NOT NULL,
  error TEXT,
  created_at BIGINT NOT NULL,
  finished_at BIGINT
);

CREATE INDEX reprice_jobs_of_workspace ON reprice_jobs (workspace_id, created_at);
