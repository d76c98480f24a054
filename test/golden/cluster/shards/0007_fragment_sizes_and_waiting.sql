-- Lengths of head, the six big fields and attachments, in the order of the table: what of a TraceRun must be read back
-- is decided without reading it. Parts of before compute it.
ALTER TABLE run_fragments_local ON CLUSTER `weir_cluster` ADD COLUMN IF NOT EXISTS sizes Array(UInt32) MATERIALIZED [
    length(head), length(inputs), length(outputs), length(events), length(extra), length(error), length(serialized),
    length(attachments)];

-- Lengths of head, the six big fields and attachments, in the order of the table: what of a TraceRun must be read back
-- is decided without reading it. Parts of before compute it.
ALTER TABLE run_fragments ON CLUSTER `weir_cluster` ADD COLUMN IF NOT EXISTS sizes Array(UInt32) MATERIALIZED [
    length(head), length(inputs), length(outputs), length(events), length(extra), length(error), length(serialized),
    length(attachments)];

-- A child that was derived with its parent is noted as resolved; the later note counts, so the time is that of the note.
ALTER TABLE waiting_children_local ON CLUSTER `weir_cluster` ADD COLUMN IF NOT EXISTS resolved UInt8 DEFAULT 0;

-- A child that was derived with its parent is noted as resolved; the later note counts, so the time is that of the note.
ALTER TABLE waiting_children ON CLUSTER `weir_cluster` ADD COLUMN IF NOT EXISTS resolved UInt8 DEFAULT 0;

ALTER TABLE waiting_children_local ON CLUSTER `weir_cluster` MODIFY COLUMN received_at DateTime64(3, 'UTC') DEFAULT now64(3, 'UTC');

ALTER TABLE waiting_children ON CLUSTER `weir_cluster` MODIFY COLUMN received_at DateTime64(3, 'UTC') DEFAULT now64(3, 'UTC');

-- A parent that has not come for a week does not come.
ALTER TABLE waiting_children_local ON CLUSTER `weir_cluster` MODIFY TTL toDateTime(received_at) + INTERVAL 7 DAY;
