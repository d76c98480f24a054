-- Kept figures of runs (ADR 0098): sums over the traces of an hour (0018), by half-hours of the runs' own starts. `trace`
-- rows are about roots, with the usage of their whole traces; `run` rows are about all runs, each with its own usage.
-- `grouping` is '' or the column whose `value` all runs of the row have. Rows count if figure_hours has the same
-- `changes`.
CREATE TABLE IF NOT EXISTS run_hours_local ON CLUSTER `weir_cluster`
(
    workspace_id             UUID,
    project_id               UUID,
    subject                  Enum8('trace' = 1, 'run' = 2),
    grouping                 LowCardinality(String),
    hour                     Int32,
    half_hour                Int32,
    run_type                 LowCardinality(String),
    status                   LowCardinality(String),
    is_root                  UInt8,
    value                    String CODEC(ZSTD(1)),
    changes                  UInt64,
    first_time               DateTime64(6, 'UTC') CODEC(ZSTD(1)),
    last_time                DateTime64(6, 'UTC') CODEC(ZSTD(1)),
    runs                     UInt64 CODEC(ZSTD(1)),
    traces                   UInt64 CODEC(ZSTD(1)),
    calls                    UInt64 CODEC(ZSTD(1)),
    streams                  UInt64 CODEC(ZSTD(1)),
    streamed                 UInt64 CODEC(ZSTD(1)),
    held                     Array(UInt64) CODEC(ZSTD(1)),
    latency                  AggregateFunction(quantilesDD(0.01, 0.5, 0.99, 0.9, 0.95), Float64) CODEC(ZSTD(1)),
    first_token              AggregateFunction(quantilesDD(0.01, 0.5, 0.99, 0.9, 0.95), Float64) CODEC(ZSTD(1)),
    latency_classes          Map(UInt16, UInt64) CODEC(ZSTD(1)),
    first_token_classes      Map(UInt16, UInt64) CODEC(ZSTD(1)),
    prompt_tokens            Float64 CODEC(ZSTD(1)),
    completion_tokens        Float64 CODEC(ZSTD(1)),
    prompt_cost              Nullable(Decimal(76, 18)) CODEC(ZSTD(1)),
    completion_cost          Nullable(Decimal(76, 18)) CODEC(ZSTD(1)),
    total_cost               Nullable(Decimal(76, 18)) CODEC(ZSTD(1)),
    estimated_prompt_tokens     Float64 CODEC(ZSTD(1)),
    estimated_completion_tokens Float64 CODEC(ZSTD(1)),
    estimated_cost           Nullable(Decimal(76, 18)) CODEC(ZSTD(1)),
    prompt_tokens_each       AggregateFunction(quantilesDD(0.01, 0.5, 0.99), Float64) CODEC(ZSTD(1)),
    completion_tokens_each   AggregateFunction(quantilesDD(0.01, 0.5, 0.99), Float64) CODEC(ZSTD(1)),
    total_tokens_each        AggregateFunction(quantilesDD(0.01, 0.5, 0.99), Float64) CODEC(ZSTD(1)),
    total_cost_each          AggregateFunction(quantilesDD(0.01, 0.5, 0.99), Float64) CODEC(ZSTD(1)),
    prompt_token_details     Map(String, UInt64) CODEC(ZSTD(1)),
    completion_token_details Map(String, UInt64) CODEC(ZSTD(1)),
    prompt_cost_details      Map(String, Decimal(76, 18)) CODEC(ZSTD(1)),
    completion_cost_details  Map(String, Decimal(76, 18)) CODEC(ZSTD(1))
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/{database}/{table}', '{replica}', changes)
ORDER BY (workspace_id, project_id, subject, grouping, hour, half_hour, run_type, status, is_root, value)
SETTINGS index_granularity = 256, fsync_after_insert = 1;

CREATE TABLE IF NOT EXISTS run_hours ON CLUSTER `weir_cluster` AS run_hours_local ENGINE = Distributed('weir_cluster', 'weir', 'run_hours_local', cityHash64(workspace_id, project_id));

-- Whether the hour has rows in run_hours (1), or could not have them (2); the least and greatest starts of roots and of all runs of its traces; whether a
-- trace of it has several roots. Rows of before have none.
ALTER TABLE figure_hours_local ON CLUSTER `weir_cluster` ADD COLUMN IF NOT EXISTS has_runs UInt8;

-- Whether the hour has rows in run_hours (1), or could not have them (2); the least and greatest starts of roots and of all runs of its traces; whether a
-- trace of it has several roots. Rows of before have none.
ALTER TABLE figure_hours ON CLUSTER `weir_cluster` ADD COLUMN IF NOT EXISTS has_runs UInt8;

ALTER TABLE figure_hours_local ON CLUSTER `weir_cluster` ADD COLUMN IF NOT EXISTS root_times Array(DateTime64(6, 'UTC'));

ALTER TABLE figure_hours ON CLUSTER `weir_cluster` ADD COLUMN IF NOT EXISTS root_times Array(DateTime64(6, 'UTC'));

ALTER TABLE figure_hours_local ON CLUSTER `weir_cluster` ADD COLUMN IF NOT EXISTS run_times Array(DateTime64(6, 'UTC'));

ALTER TABLE figure_hours ON CLUSTER `weir_cluster` ADD COLUMN IF NOT EXISTS run_times Array(DateTime64(6, 'UTC'));

ALTER TABLE figure_hours_local ON CLUSTER `weir_cluster` ADD COLUMN IF NOT EXISTS several_roots UInt8;

ALTER TABLE figure_hours ON CLUSTER `weir_cluster` ADD COLUMN IF NOT EXISTS several_roots UInt8;
