-- Days for which new projects of the workspace keep their runs; null = the setting DEFAULT_RETENTION_DAYS, 0 = for ever.
ALTER TABLE workspaces ADD COLUMN retention_days BIGINT;
