-- RUN_VERSION of the release that made the run or executed its last attempt: older releases leave the run alone.
ALTER TABLE runs ADD COLUMN needs_version INTEGER NOT NULL DEFAULT 1;
