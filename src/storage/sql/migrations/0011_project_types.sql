-- What a project is for: PROJECT, AGENT or EXPERIMENT; null where nobody said it.
ALTER TABLE projects ADD COLUMN type TEXT;
ALTER TABLE projects ADD COLUMN default_dataset_id TEXT;
