-- The commands of builds as JSON; null: none. A revision keeps those that it was made with.
ALTER TABLE deployments ADD COLUMN commands TEXT;
ALTER TABLE revisions ADD COLUMN commands TEXT;
