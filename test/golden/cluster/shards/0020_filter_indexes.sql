-- What people filter by. A filter that selects few rows reads only the granules that may have them. Inserts and merges do
-- not build these indexes: search/index-words.ts has them built together with `words`, and rows without them are scanned.
ALTER TABLE runs_local ON CLUSTER `weir_cluster` ADD INDEX IF NOT EXISTS by_name name TYPE bloom_filter GRANULARITY 1;

ALTER TABLE runs_local ON CLUSTER `weir_cluster` ADD INDEX IF NOT EXISTS by_model model TYPE bloom_filter GRANULARITY 1;

ALTER TABLE runs_local ON CLUSTER `weir_cluster` ADD INDEX IF NOT EXISTS by_status status TYPE set(16) GRANULARITY 1;

ALTER TABLE runs_local ON CLUSTER `weir_cluster` ADD INDEX IF NOT EXISTS by_user user_id TYPE bloom_filter GRANULARITY 1;

ALTER TABLE runs_local ON CLUSTER `weir_cluster` ADD INDEX IF NOT EXISTS by_tag tags TYPE bloom_filter GRANULARITY 1;

ALTER TABLE runs_local ON CLUSTER `weir_cluster` ADD INDEX IF NOT EXISTS by_metadata_key mapKeys(metadata) TYPE bloom_filter GRANULARITY 1;

ALTER TABLE runs_local ON CLUSTER `weir_cluster` ADD INDEX IF NOT EXISTS by_metadata_value mapValues(metadata) TYPE bloom_filter GRANULARITY 1;

ALTER TABLE runs_local ON CLUSTER `weir_cluster` MATERIALIZE INDEX words, MATERIALIZE INDEX by_name, MATERIALIZE INDEX by_model,
    MATERIALIZE INDEX by_status, MATERIALIZE INDEX by_user, MATERIALIZE INDEX by_tag,
    MATERIALIZE INDEX by_metadata_key, MATERIALIZE INDEX by_metadata_value;
