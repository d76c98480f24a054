-- The ids of TraceRuns while they are deleted: the statements of one deletion, which would each parse them again, select
-- them by its `deletion` (ADR 0034).
CREATE TABLE IF NOT EXISTS deleting_runs_local ON CLUSTER `weir_cluster`
(
    deletion  UUID,
    run_id    UUID,
    staged_at DateTime('UTC') DEFAULT now()
)
ENGINE = ReplicatedMergeTree('/clickhouse/tables/{shard}/{database}/{table}', '{replica}')
ORDER BY (deletion, run_id)
TTL staged_at + INTERVAL 1 DAY
SETTINGS index_granularity = 1024, fsync_after_insert = 1;

CREATE TABLE IF NOT EXISTS deleting_runs ON CLUSTER `weir_cluster` AS deleting_runs_local ENGINE = Distributed('weir_cluster', 'weir', 'deleting_runs_local', cityHash64(run_id));
