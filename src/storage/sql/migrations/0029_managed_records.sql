-- What a set-up file manages. kind: as in src/identity/managed-records.ts. record_id: the id of the record; for a
-- feedback config the id of its workspace, a space and its key.
CREATE TABLE managed_records (
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  kind TEXT NOT NULL,
  record_id TEXT NOT NULL,
  PRIMARY KEY (organization_id, kind, record_id)
);
