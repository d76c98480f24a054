-- Repairs of rows that an earlier release wrote, and when each was done: a start does what is not there.
CREATE TABLE IF NOT EXISTS repairs
(
    name    String,
    done_at DateTime64(3, 'UTC') DEFAULT now64(3, 'UTC')
)
ENGINE = ReplacingMergeTree
ORDER BY name
SETTINGS fsync_after_insert = 1;
