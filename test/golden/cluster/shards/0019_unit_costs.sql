-- What a computed total has for units and the fee of the call. Rows of before have none until they are derived or
-- repriced again.
ALTER TABLE runs_local ON CLUSTER `weir_cluster` ADD COLUMN IF NOT EXISTS unit_costs Map(String, Decimal(38, 18));

-- What a computed total has for units and the fee of the call. Rows of before have none until they are derived or
-- repriced again.
ALTER TABLE runs ON CLUSTER `weir_cluster` ADD COLUMN IF NOT EXISTS unit_costs Map(String, Decimal(38, 18));
