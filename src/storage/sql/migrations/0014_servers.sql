-- Servers that share this database: one row for each process, renewed while it lives.
CREATE TABLE servers (
  id TEXT PRIMARY KEY,
  instance_id TEXT NOT NULL,
  -- `local`: its attachments are in files that only it has; `shared`: where every server finds them.
  blobs TEXT NOT NULL,
  started_at BIGINT NOT NULL,
  seen_at BIGINT NOT NULL
);
