-- For the list of the runs of all threads.
CREATE INDEX runs_newest ON runs (deployment_id, workspace_id, created_at, run_id);
