-- Where fragments are whose TraceRuns were deleted, and whose places are gone (ADR 0099): one statement deletes them
-- later, because each deletion in `fragments` makes a new version of every part, also of other days.
CREATE TABLE IF NOT EXISTS hidden_fragments_local ON CLUSTER `weir_cluster`
(
    keep_days    UInt16,
    day          Date,
    begun        DateTime('UTC'),
    workspace_id UUID,
    run_id       UUID,
    hidden_at    DateTime('UTC') DEFAULT now()
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/{database}/{table}', '{replica}', hidden_at)
ORDER BY (keep_days, day, begun, workspace_id, run_id)
SETTINGS index_granularity = 1024, fsync_after_insert = 1;

CREATE TABLE IF NOT EXISTS hidden_fragments ON CLUSTER `weir_cluster` AS hidden_fragments_local ENGINE = Distributed('weir_cluster', 'weir', 'hidden_fragments_local', cityHash64(run_id));
