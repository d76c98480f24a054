-- Which call of a model an llm TraceRun shows (0 where nothing names it) and how much it says of it: TraceRuns of one
-- trace may show the same call. Rows of before name none until they are derived again.
ALTER TABLE runs_local ON CLUSTER `weir_cluster` ADD COLUMN IF NOT EXISTS call_id UInt64;

-- Which call of a model an llm TraceRun shows (0 where nothing names it) and how much it says of it: TraceRuns of one
-- trace may show the same call. Rows of before name none until they are derived again.
ALTER TABLE runs ON CLUSTER `weir_cluster` ADD COLUMN IF NOT EXISTS call_id UInt64;

ALTER TABLE runs_local ON CLUSTER `weir_cluster` ADD COLUMN IF NOT EXISTS call_facts UInt8;

ALTER TABLE runs ON CLUSTER `weir_cluster` ADD COLUMN IF NOT EXISTS call_facts UInt8;
