-- Where traces are filed. The id may come from a client, so it is unique within its workspace only.
CREATE TABLE projects (
  workspace_id TEXT NOT NULL,
  id TEXT NOT NULL,
  name TEXT NOT NULL,
  description TEXT,
  extra TEXT NOT NULL,
  reference_dataset_id TEXT,
  start_time BIGINT NOT NULL,
  end_time BIGINT,
  PRIMARY KEY (workspace_id, id),
  UNIQUE (workspace_id, name)
);

CREATE INDEX projects_newest ON projects (workspace_id, start_time DESC, id);
