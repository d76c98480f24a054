-- Every create and update of a TraceRun as it came, once (ADR 0003). Written before anything is derived from it.
-- `seniority` keeps the earliest received of equal fragments when parts merge.
CREATE TABLE IF NOT EXISTS run_fragments_local ON CLUSTER `weir_cluster`
(
    workspace_id UUID,
    run_id       UUID,
    rank         UInt8,
    hash         FixedString(16),
    received_at  DateTime64(3, 'UTC'),
    project_id   UUID,
    user_id      UUID,
    api_key_id   UUID,
    head         String CODEC(ZSTD(1)),
    inputs       String CODEC(ZSTD(1)),
    outputs      String CODEC(ZSTD(1)),
    events       String CODEC(ZSTD(1)),
    extra        String CODEC(ZSTD(1)),
    error        String CODEC(ZSTD(1)),
    serialized   String CODEC(ZSTD(1)),
    attachments  String CODEC(ZSTD(1)),
    seniority    UInt64 MATERIALIZED 9223372036854775807 - toUnixTimestamp64Milli(received_at)
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/{database}/{table}', '{replica}', seniority)
ORDER BY (workspace_id, run_id, rank, hash)
SETTINGS index_granularity = 1024, index_granularity_bytes = 1048576, fsync_after_insert = 1;

CREATE TABLE IF NOT EXISTS run_fragments ON CLUSTER `weir_cluster` AS run_fragments_local ENGINE = Distributed('weir_cluster', 'weir', 'run_fragments_local', cityHash64(run_id));
