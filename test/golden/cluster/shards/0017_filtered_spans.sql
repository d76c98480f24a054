-- Spans that a filter of their project left out (ADR 0071): they have a fragment without payload (rank 4) and no lean
-- row, so deletion and retention find them here.
CREATE TABLE IF NOT EXISTS filtered_spans_local ON CLUSTER `weir_cluster`
(
    workspace_id UUID,
    trace_id     UUID,
    run_id       UUID,
    project_id   UUID,
    received_at  DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1))
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/{database}/{table}', '{replica}')
ORDER BY (workspace_id, trace_id, run_id, project_id)
SETTINGS fsync_after_insert = 1;

CREATE TABLE IF NOT EXISTS filtered_spans ON CLUSTER `weir_cluster` AS filtered_spans_local ENGINE = Distributed('weir_cluster', 'weir', 'filtered_spans_local', cityHash64(run_id));

CREATE MATERIALIZED VIEW IF NOT EXISTS filtered_spans_feed ON CLUSTER `weir_cluster` TO filtered_spans_local AS
SELECT workspace_id, toUUIDOrZero(JSONExtractString(head, 'trace_id')) AS trace_id, run_id, project_id, received_at
FROM run_fragments_local
WHERE rank = 4;
