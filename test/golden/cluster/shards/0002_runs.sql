-- What is derived from the fragments of a TraceRun, without payloads: lists, roll-ups and traces read this.
-- The sort key holds the time that lists go by; a row whose time or project changed is deleted under its old key.
CREATE TABLE IF NOT EXISTS runs_local ON CLUSTER `weir_cluster`
(
    workspace_id         UUID,
    project_id           UUID,
    sort_time            DateTime64(6, 'UTC') CODEC(Delta, ZSTD(1)),
    run_id               UUID,
    version              UInt64,
    is_deleted           UInt8,
    trace_id             UUID,
    parent_run_id        UUID,
    dotted_order         String CODEC(ZSTD(1)),
    name                 String CODEC(ZSTD(1)),
    run_type             LowCardinality(String),
    status               LowCardinality(String),
    start_time           DateTime64(6, 'UTC') CODEC(Delta, ZSTD(1)),
    end_time             Nullable(DateTime64(6, 'UTC')),
    first_token_time     Nullable(DateTime64(6, 'UTC')),
    received_at          DateTime64(3, 'UTC'),
    user_id              UUID,
    api_key_id           UUID,
    error                String CODEC(ZSTD(1)),
    inputs_preview       String CODEC(ZSTD(1)),
    outputs_preview      String CODEC(ZSTD(1)),
    tags                 Array(String),
    thread_id            String CODEC(ZSTD(1)),
    metadata             Map(String, String) CODEC(ZSTD(1)),
    provider             LowCardinality(String),
    model                LowCardinality(String),
    model_source         LowCardinality(String),
    input_format         LowCardinality(String),
    output_format        LowCardinality(String),
    input_tokens         Nullable(UInt64),
    output_tokens        Nullable(UInt64),
    input_token_details  Map(String, UInt64),
    output_token_details Map(String, UInt64),
    input_cost           Nullable(Decimal(38, 18)),
    output_cost          Nullable(Decimal(38, 18)),
    total_cost           Nullable(Decimal(38, 18)),
    input_source         LowCardinality(String),
    output_source        LowCardinality(String),
    checks               UInt8,
    issues               Array(String)
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/{database}/{table}', '{replica}', version, is_deleted)
PARTITION BY toYYYYMM(sort_time)
ORDER BY (workspace_id, project_id, sort_time, run_id)
SETTINGS index_granularity = 1024, fsync_after_insert = 1;

CREATE TABLE IF NOT EXISTS runs ON CLUSTER `weir_cluster` AS runs_local ENGINE = Distributed('weir_cluster', 'weir', 'runs_local', cityHash64(run_id));

-- Which TraceRuns a trace has, and where their rows are. A row left behind by a changed trace_id is harmless:
-- readers check the trace_id of the row it leads to.
CREATE TABLE IF NOT EXISTS trace_runs_local ON CLUSTER `weir_cluster`
(
    workspace_id UUID,
    trace_id     UUID,
    run_id       UUID,
    project_id   UUID,
    sort_time    DateTime64(6, 'UTC'),
    version      UInt64
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/{database}/{table}', '{replica}', version)
ORDER BY (workspace_id, trace_id, run_id)
SETTINGS index_granularity = 1024, fsync_after_insert = 1;

CREATE TABLE IF NOT EXISTS trace_runs ON CLUSTER `weir_cluster` AS trace_runs_local ENGINE = Distributed('weir_cluster', 'weir', 'trace_runs_local', cityHash64(run_id));

CREATE MATERIALIZED VIEW IF NOT EXISTS trace_runs_feed ON CLUSTER `weir_cluster` TO trace_runs_local AS
SELECT workspace_id, trace_id, run_id, project_id, sort_time, version
FROM runs_local
WHERE is_deleted = 0;

-- Where the row of a TraceRun is, for readers that have only its id.
CREATE TABLE IF NOT EXISTS run_places_local ON CLUSTER `weir_cluster`
(
    workspace_id UUID,
    run_id       UUID,
    trace_id     UUID,
    project_id   UUID,
    sort_time    DateTime64(6, 'UTC'),
    version      UInt64
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/{database}/{table}', '{replica}', version)
ORDER BY (workspace_id, run_id)
SETTINGS index_granularity = 1024, fsync_after_insert = 1;

CREATE TABLE IF NOT EXISTS run_places ON CLUSTER `weir_cluster` AS run_places_local ENGINE = Distributed('weir_cluster', 'weir', 'run_places_local', cityHash64(run_id));

CREATE MATERIALIZED VIEW IF NOT EXISTS run_places_feed ON CLUSTER `weir_cluster` TO run_places_local AS
SELECT workspace_id, run_id, trace_id, project_id, sort_time, version
FROM runs_local
WHERE is_deleted = 0;
