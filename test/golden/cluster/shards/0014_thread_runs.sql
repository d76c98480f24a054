-- Roots of traces, and other TraceRuns that name a thread (ADR 0040). Each is here under two keys, as far as `filed`
-- needs them: roots by time and by thread, the others by trace and by thread; what a key does not need is empty in it.
-- All versions of a TraceRun with the same thread and place are one row; of several the one with the highest version
-- counts. `written_at` is when the first of them was written, and 1970 in rows of before: pages of threads keep their
-- order by it.
CREATE TABLE IF NOT EXISTS thread_runs_local ON CLUSTER `weir_cluster`
(
    workspace_id UUID,
    project_id   UUID,
    filed        Enum8('root_by_time' = 1, 'root_by_thread' = 2, 'below_by_trace' = 3, 'below_by_thread' = 4),
    root_time    DateTime64(6, 'UTC') CODEC(Delta, ZSTD(1)),
    thread       String CODEC(ZSTD(1)),
    trace_id     UUID,
    run_id       UUID,
    sort_time    DateTime64(6, 'UTC') CODEC(Delta, ZSTD(1)),
    start_time   DateTime64(6, 'UTC') CODEC(Delta, ZSTD(1)),
    thread_id    String CODEC(ZSTD(1)),
    is_deleted   UInt8,
    version      SimpleAggregateFunction(max, UInt64),
    written_at   SimpleAggregateFunction(min, DateTime64(6, 'UTC')),
    INDEX by_written written_at TYPE minmax GRANULARITY 1
)
ENGINE = ReplicatedAggregatingMergeTree('/clickhouse/tables/{shard}/{database}/{table}', '{replica}')
PRIMARY KEY (workspace_id, project_id, filed, root_time, thread, trace_id)
ORDER BY (workspace_id, project_id, filed, root_time, thread, trace_id, run_id, sort_time, start_time, thread_id,
    is_deleted)
SETTINGS index_granularity = 1024, fsync_after_insert = 1;

CREATE TABLE IF NOT EXISTS thread_runs ON CLUSTER `weir_cluster` AS thread_runs_local ENGINE = Distributed('weir_cluster', 'weir', 'thread_runs_local', cityHash64(run_id));

CREATE MATERIALIZED VIEW IF NOT EXISTS thread_runs_feed ON CLUSTER `weir_cluster` TO thread_runs_local AS
SELECT workspace_id, project_id,
    arrayJoin(multiIf(
        parent_run_id != toUUID('00000000-0000-0000-0000-000000000000'), ['below_by_trace', 'below_by_thread'],
        thread_id = '', ['root_by_time'],
        ['root_by_time', 'root_by_thread'])) AS filed,
    if(filed = 'root_by_time', sort_time, toDateTime64(0, 6, 'UTC')) AS root_time,
    if(filed IN ('root_by_thread', 'below_by_thread'), thread_id, '') AS thread,
    trace_id, run_id, sort_time, start_time, thread_id, is_deleted, version, now64(6, 'UTC') AS written_at
FROM runs_local
WHERE parent_run_id = toUUID('00000000-0000-0000-0000-000000000000') OR thread_id != '';
