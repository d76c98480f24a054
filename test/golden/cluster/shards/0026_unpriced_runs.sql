-- How many counted calls have no known cost, beside the sums of costs.
ALTER TABLE run_hours_local ON CLUSTER `weir_cluster` ADD COLUMN IF NOT EXISTS unpriced_runs UInt64 CODEC(ZSTD(1));

-- How many counted calls have no known cost, beside the sums of costs.
ALTER TABLE run_hours ON CLUSTER `weir_cluster` ADD COLUMN IF NOT EXISTS unpriced_runs UInt64 CODEC(ZSTD(1));

ALTER TABLE thread_hours_local ON CLUSTER `weir_cluster` ADD COLUMN IF NOT EXISTS unpriced_runs UInt64 CODEC(ZSTD(1));

ALTER TABLE thread_hours ON CLUSTER `weir_cluster` ADD COLUMN IF NOT EXISTS unpriced_runs UInt64 CODEC(ZSTD(1));

-- Whether the figures of the hour have unpriced_runs. Hours of before are computed again; until then reads add up rows.
ALTER TABLE figure_hours_local ON CLUSTER `weir_cluster` ADD COLUMN IF NOT EXISTS has_unpriced UInt8;

-- Whether the figures of the hour have unpriced_runs. Hours of before are computed again; until then reads add up rows.
ALTER TABLE figure_hours ON CLUSTER `weir_cluster` ADD COLUMN IF NOT EXISTS has_unpriced UInt8;
