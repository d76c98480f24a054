-- Number of calls without a known cost in the window of the last evaluation, which a value of total_cost leaves out; null
-- for other figures.
ALTER TABLE alerts ADD COLUMN unpriced_runs INTEGER;
