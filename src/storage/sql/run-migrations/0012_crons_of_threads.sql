-- The crons of a thread are deleted with it.
CREATE INDEX crons_of_thread ON crons (thread_id, deployment_id, workspace_id) WHERE thread_id IS NOT NULL;

-- Those of threads that the server has deleted when their time was over. Their count is mended at the next start.
DELETE FROM crons WHERE thread_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM threads t
  WHERE t.thread_id = crons.thread_id AND t.deployment_id = crons.deployment_id AND t.workspace_id = crons.workspace_id);
