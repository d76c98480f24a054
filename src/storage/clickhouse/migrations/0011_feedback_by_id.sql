-- Feedback is read, changed and deleted by its own id.
ALTER TABLE feedback ADD INDEX IF NOT EXISTS by_feedback_id feedback_id TYPE bloom_filter GRANULARITY 1;
ALTER TABLE feedback MATERIALIZE INDEX by_feedback_id;
