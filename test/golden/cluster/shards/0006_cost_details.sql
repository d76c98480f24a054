-- What a side's cost is made of, written and replaced together with the cost. Rows of before have none until they are
-- derived or repriced again.
ALTER TABLE runs_local ON CLUSTER `weir_cluster` ADD COLUMN IF NOT EXISTS input_cost_details Map(String, Decimal(38, 18));

-- What a side's cost is made of, written and replaced together with the cost. Rows of before have none until they are
-- derived or repriced again.
ALTER TABLE runs ON CLUSTER `weir_cluster` ADD COLUMN IF NOT EXISTS input_cost_details Map(String, Decimal(38, 18));

ALTER TABLE runs_local ON CLUSTER `weir_cluster` ADD COLUMN IF NOT EXISTS output_cost_details Map(String, Decimal(38, 18));

ALTER TABLE runs ON CLUSTER `weir_cluster` ADD COLUMN IF NOT EXISTS output_cost_details Map(String, Decimal(38, 18));
