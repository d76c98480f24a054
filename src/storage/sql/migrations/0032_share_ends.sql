-- When a share ends by itself; null for never. Epoch milliseconds.
ALTER TABLE shares ADD COLUMN expires_at BIGINT;
