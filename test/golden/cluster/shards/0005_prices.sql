-- What costs were computed with, and which the client sent: those stay when prices change. Rows of before have only
-- costs that were sent.
ALTER TABLE runs_local ON CLUSTER `weir_cluster` ADD COLUMN IF NOT EXISTS price_model_id LowCardinality(String);

-- What costs were computed with, and which the client sent: those stay when prices change. Rows of before have only
-- costs that were sent.
ALTER TABLE runs ON CLUSTER `weir_cluster` ADD COLUMN IF NOT EXISTS price_model_id LowCardinality(String);

ALTER TABLE runs_local ON CLUSTER `weir_cluster` ADD COLUMN IF NOT EXISTS sent_costs UInt8
    DEFAULT isNotNull(input_cost) + 2 * isNotNull(output_cost) + 4 * isNotNull(total_cost);

ALTER TABLE runs ON CLUSTER `weir_cluster` ADD COLUMN IF NOT EXISTS sent_costs UInt8
    DEFAULT isNotNull(input_cost) + 2 * isNotNull(output_cost) + 4 * isNotNull(total_cost);
