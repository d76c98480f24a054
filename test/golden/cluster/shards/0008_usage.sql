-- What operations claim of traces: the best claim per trace, basis and hour (ADR 0015). Nothing is ever taken out, so
-- any process can tell from it where a trace counts and where it may have counted before.
CREATE TABLE IF NOT EXISTS usage_claims_local ON CLUSTER `weir_cluster`
(
    workspace_id UUID,
    trace_id     UUID,
    basis        UInt8,
    hour         Int32,
    rank         UInt128,
    start        Int64 CODEC(ZSTD(1)),
    project_id   UUID,
    user_id      UUID,
    api_key_id   UUID
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/{database}/{table}', '{replica}', rank)
ORDER BY (workspace_id, trace_id, basis, hour)
SETTINGS index_granularity = 1024, fsync_after_insert = 1;

CREATE TABLE IF NOT EXISTS usage_claims ON CLUSTER `weir_cluster` AS usage_claims_local ENGINE = Distributed('weir_cluster', 'weir', 'usage_claims_local', cityHash64(trace_id));

-- Every trace once, in the hour in which it counts; `start` is epoch milliseconds. Deleted where it counted before.
CREATE TABLE IF NOT EXISTS usage_traces_local ON CLUSTER `weir_cluster`
(
    workspace_id UUID,
    hour         Int32,
    trace_id     UUID,
    version      UInt128,
    is_deleted   UInt8,
    start        Int64 CODEC(Delta, ZSTD(1)),
    project_id   UUID,
    user_id      UUID,
    api_key_id   UUID
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/{database}/{table}', '{replica}', version, is_deleted)
ORDER BY (workspace_id, hour, trace_id)
SETTINGS index_granularity = 4096, fsync_after_insert = 1;

CREATE TABLE IF NOT EXISTS usage_traces ON CLUSTER `weir_cluster` AS usage_traces_local ENGINE = Distributed('weir_cluster', 'weir', 'usage_traces_local', cityHash64(trace_id));

-- When usage_traces last changed in an hour or a day, by this server's clock, written after the change.
CREATE TABLE IF NOT EXISTS usage_marks_local ON CLUSTER `weir_cluster`
(
    workspace_id UUID,
    unit         Enum8('hour' = 1, 'day' = 2),
    bucket       Int32,
    marked_at    DateTime64(6, 'UTC') DEFAULT now64(6)
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/{database}/{table}', '{replica}', marked_at)
ORDER BY (workspace_id, unit, bucket)
SETTINGS fsync_after_insert = 1;

CREATE TABLE IF NOT EXISTS usage_marks ON CLUSTER `weir_cluster` AS usage_marks_local ENGINE = Distributed('weir_cluster', 'weir', 'usage_marks_local', cityHash64(workspace_id));

-- The counts of one hour or day of a workspace as a whole, as they were after `as_of`. One row holds all groupings,
-- so that no reader sees half of it.
CREATE TABLE IF NOT EXISTS usage_rollups_local ON CLUSTER `weir_cluster`
(
    workspace_id   UUID,
    unit           Enum8('hour' = 1, 'day' = 2),
    bucket         Int32,
    as_of          DateTime64(6, 'UTC'),
    traces         UInt64,
    project_ids    Array(UUID),
    project_traces Array(UInt64),
    user_ids       Array(UUID),
    user_traces    Array(UInt64),
    api_key_ids    Array(UUID),
    api_key_traces Array(UInt64)
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/{database}/{table}', '{replica}', as_of)
ORDER BY (workspace_id, unit, bucket)
SETTINGS index_granularity = 1024, fsync_after_insert = 1;

CREATE TABLE IF NOT EXISTS usage_rollups ON CLUSTER `weir_cluster` AS usage_rollups_local ENGINE = Distributed('weir_cluster', 'weir', 'usage_rollups_local', cityHash64(workspace_id));
