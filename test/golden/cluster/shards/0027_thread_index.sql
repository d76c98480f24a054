-- Figures of the threads of a page are found by their threads (ADR 0040): without the index, every hour of the window was
-- read, 285,000 rows of a month with two million runs.
ALTER TABLE thread_hours_local ON CLUSTER `weir_cluster` ADD INDEX IF NOT EXISTS by_thread thread TYPE bloom_filter(0.001) GRANULARITY 1;

ALTER TABLE thread_hours_local ON CLUSTER `weir_cluster` MATERIALIZE INDEX by_thread;
