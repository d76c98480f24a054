-- Deployments of the control plane. `name` is null while a deployment is deleted, so that it is free at once, and
-- `hosted_name` stays. `secrets` is JSON with encrypted values. Times are epoch milliseconds.
CREATE TABLE deployments (
  id TEXT NOT NULL PRIMARY KEY,
  organization_id TEXT NOT NULL,
  workspace_id TEXT NOT NULL,
  name TEXT,
  hosted_name TEXT NOT NULL,
  type TEXT NOT NULL,
  secrets TEXT NOT NULL,
  latest_revision_id TEXT,
  latest_number BIGINT NOT NULL,
  active_revision_id TEXT,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL
);

CREATE UNIQUE INDEX deployments_of_name ON deployments (name);
CREATE INDEX deployments_of_workspace ON deployments (workspace_id, created_at);

-- `error`, `graphs` and `timings` are JSON. A lease is held until `lease_until`.
CREATE TABLE revisions (
  id TEXT NOT NULL PRIMARY KEY,
  deployment_id TEXT NOT NULL,
  number BIGINT NOT NULL,
  status TEXT NOT NULL,
  source_path TEXT,
  config_path TEXT NOT NULL,
  source_sha256 TEXT,
  artifact_sha256 TEXT,
  error TEXT,
  created_by TEXT NOT NULL,
  graphs TEXT,
  rolled_back_from BIGINT,
  timings TEXT NOT NULL,
  builds BIGINT NOT NULL,
  lease_token TEXT,
  lease_until BIGINT,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL
);

CREATE UNIQUE INDEX revisions_of_deployment ON revisions (deployment_id, number);
CREATE INDEX revisions_of_status ON revisions (status, created_at);

-- Lines of logs. `at_us`, epoch microseconds, is unique in a deployment: it is also the id and the cursor of a line.
CREATE TABLE deployment_logs (
  deployment_id TEXT NOT NULL,
  at_us BIGINT NOT NULL,
  revision_id TEXT,
  kind TEXT NOT NULL,
  level TEXT NOT NULL,
  message TEXT NOT NULL,
  bytes BIGINT NOT NULL,
  PRIMARY KEY (deployment_id, at_us)
);

-- Sources that are being uploaded or wait for their revision. `token_hash` is null once the token was used.
CREATE TABLE deployment_uploads (
  object_path TEXT NOT NULL PRIMARY KEY,
  deployment_id TEXT NOT NULL,
  token_hash TEXT,
  expires_at BIGINT NOT NULL,
  sha256 TEXT,
  bytes BIGINT
);

CREATE UNIQUE INDEX deployment_uploads_of_token ON deployment_uploads (token_hash);
