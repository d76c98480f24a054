-- JSON: values of the conditions that a call must have for the price, by name.
ALTER TABLE model_prices ADD COLUMN conditions TEXT NOT NULL DEFAULT '{}';
