-- hours are counted from 1970. Every insert into runs adds to `changes` of the hours of its traces, after the rows can be
-- read: figures are complete while the number with which they were computed is still the current one. `run_hour` is
-- where rows of the trace are; `deletions` is above 0 while rows are being deleted.
CREATE TABLE IF NOT EXISTS hour_changes_local ON CLUSTER `weir_cluster`
(
    workspace_id UUID,
    project_id   UUID,
    hour         Int32,
    run_hour     Int32,
    changes      SimpleAggregateFunction(sum, UInt64),
    deletions    SimpleAggregateFunction(sum, Int64),
    changed_at   SimpleAggregateFunction(max, DateTime64(6, 'UTC'))
)
ENGINE = ReplicatedAggregatingMergeTree('/clickhouse/tables/{shard}/{database}/{table}', '{replica}')
ORDER BY (workspace_id, project_id, hour, run_hour)
SETTINGS index_granularity = 1024, fsync_after_insert = 1;

CREATE TABLE IF NOT EXISTS hour_changes ON CLUSTER `weir_cluster` AS hour_changes_local ENGINE = Distributed('weir_cluster', 'weir', 'hour_changes_local', cityHash64(workspace_id, project_id));

CREATE MATERIALIZED VIEW IF NOT EXISTS hour_changes_feed ON CLUSTER `weir_cluster` TO hour_changes_local AS
WITH toInt32(intDiv(toUnixTimestamp64Micro(sort_time), 3600000000)) AS own_hour,
    toInt32(ifNull(intDiv(toUnixTimestamp(parseDateTimeOrNull(substring(dotted_order, 1, 11), '%Y%m%dT%H', 'UTC')), 3600), own_hour)) AS trace_hour
SELECT workspace_id, project_id, arrayJoin(arrayDistinct([trace_hour, own_hour])) AS hour, own_hour AS run_hour,
    toUInt64(count()) AS changes, toInt64(0) AS deletions, now64(6, 'UTC') AS changed_at
FROM runs_local
GROUP BY workspace_id, project_id, hour, run_hour;

-- The hours whose figures were computed, and with which `changes`. Written after the figures. `first_start` and
-- `last_start` are those of roots. `strays` are the hours of traces that have rows both here and there: such hours have
-- no complete figures.
CREATE TABLE IF NOT EXISTS figure_hours_local ON CLUSTER `weir_cluster`
(
    workspace_id UUID,
    project_id   UUID,
    hour         Int32,
    changes      UInt64,
    as_of        DateTime64(6, 'UTC'),
    first_start  DateTime64(6, 'UTC'),
    last_start   DateTime64(6, 'UTC'),
    strays       Array(Int32)
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/{database}/{table}', '{replica}', changes)
ORDER BY (workspace_id, project_id, hour)
SETTINGS index_granularity = 1024, fsync_after_insert = 1;

CREATE TABLE IF NOT EXISTS figure_hours ON CLUSTER `weir_cluster` AS figure_hours_local ENGINE = Distributed('weir_cluster', 'weir', 'figure_hours_local', cityHash64(workspace_id, project_id));

-- The figures of each thread over its traces of an hour. Rows count if figure_hours has the same `changes`.
CREATE TABLE IF NOT EXISTS thread_hours_local ON CLUSTER `weir_cluster`
(
    workspace_id            UUID,
    project_id              UUID,
    hour                    Int32,
    thread                  String CODEC(ZSTD(1)),
    changes                 UInt64,
    turns                   UInt64,
    errored_turns           UInt64,
    first_root              Tuple(DateTime64(6, 'UTC'), UUID, UUID) CODEC(ZSTD(1)),
    last_root               Tuple(DateTime64(6, 'UTC'), UUID, UUID) CODEC(ZSTD(1)),
    last_failed             Tuple(DateTime64(6, 'UTC'), UUID, UUID) CODEC(ZSTD(1)),
    last_end                Nullable(DateTime64(6, 'UTC')) CODEC(ZSTD(1)),
    latency                 AggregateFunction(quantilesDD(0.01, 0.5, 0.99), Float64) CODEC(ZSTD(1)),
    prompt_tokens           Float64 CODEC(ZSTD(1)),
    completion_tokens       Float64 CODEC(ZSTD(1)),
    prompt_cost             Nullable(Decimal(76, 18)) CODEC(ZSTD(1)),
    completion_cost         Nullable(Decimal(76, 18)) CODEC(ZSTD(1)),
    total_cost              Nullable(Decimal(76, 18)) CODEC(ZSTD(1)),
    prompt_token_details     Map(String, UInt64) CODEC(ZSTD(1)),
    completion_token_details Map(String, UInt64) CODEC(ZSTD(1)),
    prompt_cost_details      Map(String, Decimal(38, 18)) CODEC(ZSTD(1)),
    completion_cost_details  Map(String, Decimal(38, 18)) CODEC(ZSTD(1))
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/{database}/{table}', '{replica}', changes)
ORDER BY (workspace_id, project_id, hour, thread)
SETTINGS index_granularity = 1024, fsync_after_insert = 1;

CREATE TABLE IF NOT EXISTS thread_hours ON CLUSTER `weir_cluster` AS thread_hours_local ENGINE = Distributed('weir_cluster', 'weir', 'thread_hours_local', cityHash64(workspace_id, project_id));
