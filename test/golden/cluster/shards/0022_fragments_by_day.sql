-- The fragments of TraceRuns by the time of their receipt (ADR 0099), beside those of before in run_fragments. `keep_days`
-- is the retention of the project when the fragment was stored, 0 for ever: the fragments of a day that are kept equally
-- long are freed together. A trace lies together: `begun` is the start of its root if the operation names it, else the
-- hour of the receipt, so that repeats are merged.
CREATE TABLE IF NOT EXISTS fragments_local ON CLUSTER `weir_cluster`
(
    workspace_id UUID,
    run_id       UUID,
    rank         UInt8,
    hash         FixedString(16),
    received_at  DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
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
    keep_days    UInt16 DEFAULT 0,
    day          Date MATERIALIZED if(keep_days = 0, toMonday(received_at), toDate(received_at)),
    trace_id     UUID MATERIALIZED if(JSONExtractString(head, 'trace_id') = '', run_id, toUUIDOrZero(JSONExtractString(head, 'trace_id'))),
    begun        DateTime('UTC') MATERIALIZED ifNull(parseDateTimeOrNull(substring(JSONExtractString(head, 'dotted_order'), 1, 15), '%Y%m%dT%H%i%S', 'UTC'), toStartOfHour(toDateTime(received_at, 'UTC'))) CODEC(Delta, ZSTD(1)),
    seniority    UInt64 MATERIALIZED 9223372036854775807 - toUnixTimestamp64Milli(received_at),
    sizes        Array(UInt32) MATERIALIZED [length(head), length(inputs), length(outputs), length(events), length(extra), length(error), length(serialized), length(attachments)],
    INDEX words
        (lowerUTF8(concat(inputs, ' ', outputs, ' ', error, ' ', if(startsWith(extra, '\0'), extra, JSONExtractRaw(extra, 'metadata')))))
        TYPE text(tokenizer = 'splitByNonAlpha')
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/{database}/{table}', '{replica}', seniority)
PARTITION BY (keep_days, day)
ORDER BY (workspace_id, begun, trace_id, run_id, rank, hash)
SETTINGS index_granularity = 1024, index_granularity_bytes = 1048576, fsync_after_insert = 1, materialize_skip_indexes_on_merge = 0;

CREATE TABLE IF NOT EXISTS fragments ON CLUSTER `weir_cluster` AS fragments_local ENGINE = Distributed('weir_cluster', 'weir', 'fragments_local', cityHash64(run_id));

-- Where the fragments of a TraceRun are, for readers that have only its id. What has no place here is not read: retention
-- hides fragments by deleting their places, and frees them later with their whole partition.
CREATE TABLE IF NOT EXISTS fragment_places_local ON CLUSTER `weir_cluster`
(
    workspace_id UUID,
    run_id       UUID,
    keep_days    UInt16,
    day          Date,
    begun        DateTime('UTC')
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/{database}/{table}', '{replica}')
ORDER BY (workspace_id, run_id, keep_days, day, begun)
SETTINGS index_granularity = 1024, fsync_after_insert = 1;

CREATE TABLE IF NOT EXISTS fragment_places ON CLUSTER `weir_cluster` AS fragment_places_local ENGINE = Distributed('weir_cluster', 'weir', 'fragment_places_local', cityHash64(run_id));

CREATE MATERIALIZED VIEW IF NOT EXISTS fragment_places_feed ON CLUSTER `weir_cluster` TO fragment_places_local AS
SELECT DISTINCT workspace_id, run_id, keep_days, day, begun FROM fragments_local;

CREATE MATERIALIZED VIEW IF NOT EXISTS filtered_fragments_feed ON CLUSTER `weir_cluster` TO filtered_spans_local AS
SELECT workspace_id, toUUIDOrZero(JSONExtractString(head, 'trace_id')) AS trace_id, run_id, project_id, received_at
FROM fragments_local
WHERE rank = 4;
