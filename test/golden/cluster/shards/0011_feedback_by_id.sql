-- Feedback is read, changed and deleted by its own id.
ALTER TABLE feedback_local ON CLUSTER `weir_cluster` ADD INDEX IF NOT EXISTS by_feedback_id feedback_id TYPE bloom_filter GRANULARITY 1;

ALTER TABLE feedback_local ON CLUSTER `weir_cluster` MATERIALIZE INDEX by_feedback_id;
