-- The days whose figures of runs were added up from those of their hours (ADR 0098). run_hours has their rows, with `day`
-- as `hour`, which is beyond any hour, and in `half_hour` the beginning of the half-day in which the runs start. They count
-- while `hours`, a hash of the hours of the day with their numbers of changes, is the current one. `changes` is the sum of
-- these numbers. `has_runs` is as in figure_hours.
CREATE TABLE IF NOT EXISTS figure_days
(
    workspace_id UUID,
    project_id   UUID,
    day          Int32,
    changes      UInt64,
    hours        UInt64,
    has_runs     UInt8
)
ENGINE = ReplacingMergeTree(changes)
ORDER BY (workspace_id, project_id, day)
SETTINGS index_granularity = 1024, fsync_after_insert = 1;
