-- The log of events of each thread. `total` and `chars` count all its events ever and the characters of their data, so
-- that the next event has position `total`; `forgotten_*` is the youngest event that is no longer kept. `retired_at` is
-- when the thread was deleted: streams may still be read for a while.
CREATE TABLE event_logs (
  thread_id TEXT NOT NULL,
  deployment_id TEXT NOT NULL,
  workspace_id TEXT NOT NULL,
  total BIGINT NOT NULL,
  chars BIGINT NOT NULL,
  last_ms BIGINT NOT NULL,
  last_seq BIGINT NOT NULL,
  forgotten_ms BIGINT NOT NULL,
  forgotten_seq BIGINT NOT NULL,
  retired_at BIGINT,
  PRIMARY KEY (thread_id, deployment_id, workspace_id)
);

CREATE INDEX event_logs_retired ON event_logs (retired_at) WHERE retired_at IS NOT NULL;

-- Events that were appended together: `<ms>-<last_seq>` is the id of the last of `events` many, `position` and `start_chars`
-- what the log's `total` and `chars` were before. `heads` is JSON, [run_id, event, length] of each; `data` is their data
-- one after the other.
CREATE TABLE event_chunks (
  thread_id TEXT NOT NULL,
  deployment_id TEXT NOT NULL,
  workspace_id TEXT NOT NULL,
  ms BIGINT NOT NULL,
  last_seq BIGINT NOT NULL,
  events BIGINT NOT NULL,
  chars BIGINT NOT NULL,
  position BIGINT NOT NULL,
  start_chars BIGINT NOT NULL,
  heads TEXT NOT NULL,
  data TEXT NOT NULL,
  PRIMARY KEY (thread_id, deployment_id, workspace_id, ms, last_seq)
);

CREATE INDEX event_chunks_age ON event_chunks (ms);
