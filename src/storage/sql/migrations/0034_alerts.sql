-- Rules about figures of the runs of a project. `state` is unknown until the first evaluation. A value is decimal text.
CREATE TABLE alerts (
  workspace_id TEXT NOT NULL,
  project_id TEXT NOT NULL,
  id TEXT NOT NULL PRIMARY KEY,
  name TEXT NOT NULL,
  subject TEXT NOT NULL,
  filter TEXT,
  figure TEXT NOT NULL,
  comparison TEXT NOT NULL,
  threshold TEXT NOT NULL,
  window_minutes INTEGER NOT NULL,
  no_data TEXT NOT NULL,
  webhook_url TEXT,
  is_enabled INTEGER NOT NULL,
  -- A user; null for a service key.
  created_by TEXT,
  created_at BIGINT NOT NULL,
  modified_at BIGINT NOT NULL,
  -- How often the rule was changed; an evaluation of an earlier version is dropped.
  version INTEGER NOT NULL,
  -- When the next evaluation is due.
  due_at BIGINT NOT NULL,
  state TEXT NOT NULL,
  since BIGINT,
  value TEXT,
  evaluated_at BIGINT,
  -- Why the last evaluation was not possible.
  fault TEXT,
  -- Number of the last change between firing and not firing.
  change_no INTEGER NOT NULL,
  -- What became of the last notification: delivered, refused or failed.
  delivery TEXT,
  delivery_at BIGINT,
  UNIQUE (workspace_id, project_id, name)
);

CREATE INDEX alerts_due ON alerts (due_at) WHERE is_enabled = 1;

-- What is to be sent about changes of alerts, until it was sent or given up. The rule may be gone by then.
CREATE TABLE alert_notifications (
  alert_id TEXT NOT NULL,
  change_no INTEGER NOT NULL,
  id TEXT NOT NULL,
  url TEXT NOT NULL,
  -- JSON.
  notification TEXT NOT NULL,
  tries INTEGER NOT NULL,
  -- While a process sends it: when another may, should that one be gone.
  due_at BIGINT NOT NULL,
  taken_by TEXT,
  PRIMARY KEY (alert_id, change_no)
);

CREATE INDEX alert_notifications_due ON alert_notifications (due_at);
