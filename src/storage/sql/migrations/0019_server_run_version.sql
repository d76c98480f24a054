-- RUN_VERSION of a server: the newest version of runs that it executes. 1 for servers of an older release.
ALTER TABLE servers ADD COLUMN run_version INTEGER NOT NULL DEFAULT 1;
