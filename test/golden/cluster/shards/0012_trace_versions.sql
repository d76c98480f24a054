-- When the row of a TraceRun was written, by the clock of the server that wrote it: what has changed in a trace since it was
-- last read. Rows of before were written at the beginning of time.
ALTER TABLE trace_runs_local ON CLUSTER `weir_cluster` ADD COLUMN IF NOT EXISTS written_at DateTime64(3, 'UTC') DEFAULT toDateTime64(0, 3, 'UTC');

-- When the row of a TraceRun was written, by the clock of the server that wrote it: what has changed in a trace since it was
-- last read. Rows of before were written at the beginning of time.
ALTER TABLE trace_runs ON CLUSTER `weir_cluster` ADD COLUMN IF NOT EXISTS written_at DateTime64(3, 'UTC') DEFAULT toDateTime64(0, 3, 'UTC');

ALTER TABLE trace_runs_feed ON CLUSTER `weir_cluster` MODIFY QUERY
SELECT workspace_id, trace_id, run_id, project_id, sort_time, version, now64(3, 'UTC') AS written_at
FROM runs_local
WHERE is_deleted = 0;
