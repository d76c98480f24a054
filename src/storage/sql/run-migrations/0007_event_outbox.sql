-- The ends of runs on their way into a log of events that is not in this database: stored with the change that they tell
-- of, removed when they have arrived. `items` is JSON.
CREATE TABLE event_outbox (
  outbox_id TEXT NOT NULL PRIMARY KEY,
  thread_id TEXT NOT NULL,
  deployment_id TEXT NOT NULL,
  workspace_id TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  items TEXT NOT NULL
);

CREATE INDEX event_outbox_created ON event_outbox (created_at);
