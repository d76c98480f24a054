-- What each workspace has of what is bounded; changed in the transaction that makes or deletes it.

CREATE TABLE workspace_use (
  workspace_id TEXT NOT NULL,
  -- As in Quotas.
  quota TEXT NOT NULL,
  used BIGINT NOT NULL,
  PRIMARY KEY (workspace_id, quota)
);

INSERT INTO workspace_use (workspace_id, quota, used)
  SELECT workspace_id, 'threads', count(*) FROM threads GROUP BY workspace_id;

INSERT INTO workspace_use (workspace_id, quota, used)
  SELECT workspace_id, 'crons', count(*) FROM crons GROUP BY workspace_id;

INSERT INTO workspace_use (workspace_id, quota, used)
  SELECT workspace_id, 'assistants', count(*) FROM assistants GROUP BY workspace_id;

INSERT INTO workspace_use (workspace_id, quota, used)
  SELECT workspace_id, 'store_bytes', sum(octet_length(item)) FROM store_items GROUP BY workspace_id;
