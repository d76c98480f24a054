CREATE TABLE IF NOT EXISTS feedback_local ON CLUSTER `weir_cluster`
(
    workspace_id UUID,
    run_id       UUID,
    feedback_id  UUID,
    trace_id     UUID,
    received_at  DateTime64(3, 'UTC'),
    body         String CODEC(ZSTD(1))
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/{database}/{table}', '{replica}', received_at)
ORDER BY (workspace_id, run_id, feedback_id)
SETTINGS index_granularity = 1024, fsync_after_insert = 1;

CREATE TABLE IF NOT EXISTS feedback ON CLUSTER `weir_cluster` AS feedback_local ENGINE = Distributed('weir_cluster', 'weir', 'feedback_local', cityHash64(run_id));
