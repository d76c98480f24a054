-- TraceRuns sent without trace_id whose parent has not come: they are derived again when it does.
CREATE TABLE IF NOT EXISTS waiting_children_local ON CLUSTER `weir_cluster`
(
    workspace_id  UUID,
    parent_run_id UUID,
    run_id        UUID,
    received_at   DateTime64(3, 'UTC')
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/{database}/{table}', '{replica}', received_at)
ORDER BY (workspace_id, parent_run_id, run_id)
SETTINGS fsync_after_insert = 1;

CREATE TABLE IF NOT EXISTS waiting_children ON CLUSTER `weir_cluster` AS waiting_children_local ENGINE = Distributed('weir_cluster', 'weir', 'waiting_children_local', cityHash64(run_id));
