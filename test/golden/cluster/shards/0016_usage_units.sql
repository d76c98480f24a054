-- Numbers of usage that are no tokens, the conditions on which the price depends, the model that answered, and who says
-- the cost; what the prices say stays beside a stated cost. Rows of before have none until they are derived again.
ALTER TABLE runs_local ON CLUSTER `weir_cluster` ADD COLUMN IF NOT EXISTS usage_units Map(String, Float64);

-- Numbers of usage that are no tokens, the conditions on which the price depends, the model that answered, and who says
-- the cost; what the prices say stays beside a stated cost. Rows of before have none until they are derived again.
ALTER TABLE runs ON CLUSTER `weir_cluster` ADD COLUMN IF NOT EXISTS usage_units Map(String, Float64);

ALTER TABLE runs_local ON CLUSTER `weir_cluster` ADD COLUMN IF NOT EXISTS usage_conditions Map(String, String);

ALTER TABLE runs ON CLUSTER `weir_cluster` ADD COLUMN IF NOT EXISTS usage_conditions Map(String, String);

ALTER TABLE runs_local ON CLUSTER `weir_cluster` ADD COLUMN IF NOT EXISTS answered_model LowCardinality(String);

ALTER TABLE runs ON CLUSTER `weir_cluster` ADD COLUMN IF NOT EXISTS answered_model LowCardinality(String);

ALTER TABLE runs_local ON CLUSTER `weir_cluster` ADD COLUMN IF NOT EXISTS cost_source LowCardinality(String);

ALTER TABLE runs ON CLUSTER `weir_cluster` ADD COLUMN IF NOT EXISTS cost_source LowCardinality(String);

ALTER TABLE runs_local ON CLUSTER `weir_cluster` ADD COLUMN IF NOT EXISTS computed_cost Nullable(Decimal(38, 18));

ALTER TABLE runs ON CLUSTER `weir_cluster` ADD COLUMN IF NOT EXISTS computed_cost Nullable(Decimal(38, 18));
