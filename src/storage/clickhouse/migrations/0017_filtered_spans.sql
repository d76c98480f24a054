-- Spans that a filter of their project left out (ADR 0071): they have a fragment without payload (rank 4) and no lean
-- row, so deletion and retention find them here.
CREATE TABLE IF NOT EXISTS filtered_spans
(
    workspace_id UUID,
    trace_id     UUID,
    run_id       UUID,
    project_id   UUID,
    received_at  DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1))
)
ENGINE = ReplacingMergeTree
ORDER BY (workspace_id, trace_id, run_id, project_id)
SETTINGS fsync_after_insert = 1;

CREATE MATERIALIZED VIEW IF NOT EXISTS filtered_spans_feed TO filtered_spans AS
SELECT workspace_id, toUUIDOrZero(JSONExtractString(head, 'trace_id')) AS trace_id, run_id, project_id, received_at
FROM run_fragments
WHERE rank = 4;
