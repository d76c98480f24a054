-- Repairs of rows that an earlier release wrote, and when each was done: a start does what is not there.
CREATE TABLE IF NOT EXISTS repairs_local ON CLUSTER `weir_cluster`
(
    name    String,
    done_at DateTime64(3, 'UTC') DEFAULT now64(3, 'UTC')
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/{database}/{table}', '{replica}')
ORDER BY name
SETTINGS fsync_after_insert = 1;

CREATE TABLE IF NOT EXISTS repairs ON CLUSTER `weir_cluster` AS repairs_local ENGINE = Distributed('weir_cluster', 'weir', 'repairs_local', 0);
