-- When the key of the inviter ends, and so the key that is made with the invitation; null for never. Epoch milliseconds.
ALTER TABLE invites ADD COLUMN key_expires_at BIGINT;
