-- Sources and builds of deployments that several servers share. The bytes are in the store of attachments, cut into
-- parts; `parts` is a JSON array of their hashes, and `made_in` the folder of a build on the server that made it.
CREATE TABLE deployment_files (
  deployment_id TEXT NOT NULL,
  path TEXT NOT NULL,
  made_in TEXT NOT NULL,
  parts TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  PRIMARY KEY (deployment_id, path)
);
