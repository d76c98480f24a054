-- Long-term memory of graphs. `namespace` is the JSON of its labels. Times are epoch milliseconds; `changed` is the order
-- of changes, in microseconds.
CREATE TABLE store_items (
  namespace TEXT NOT NULL,
  item_key TEXT NOT NULL,
  deployment_id TEXT NOT NULL,
  workspace_id TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  changed BIGINT NOT NULL,
  ttl_ms BIGINT,
  expires_at BIGINT,
  item TEXT NOT NULL,
  PRIMARY KEY (namespace, item_key, deployment_id, workspace_id)
);

CREATE INDEX store_items_expiring ON store_items (expires_at) WHERE expires_at IS NOT NULL;

-- Each namespace that has items under each of its prefixes, itself and [] among them: found by equality, as orders of
-- text differ between engines.
CREATE TABLE store_prefixes (
  prefix TEXT NOT NULL,
  deployment_id TEXT NOT NULL,
  workspace_id TEXT NOT NULL,
  namespace TEXT NOT NULL,
  PRIMARY KEY (prefix, deployment_id, workspace_id, namespace)
);

-- What items mean: one row for each text that was embedded; `vector` is base64 of float32.
CREATE TABLE store_vectors (
  namespace TEXT NOT NULL,
  item_key TEXT NOT NULL,
  deployment_id TEXT NOT NULL,
  workspace_id TEXT NOT NULL,
  path TEXT NOT NULL,
  vector TEXT NOT NULL,
  PRIMARY KEY (namespace, item_key, deployment_id, workspace_id, path)
);
