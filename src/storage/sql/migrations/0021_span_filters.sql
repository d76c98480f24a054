-- The spans of a project that are not kept: JSON, a list of span-filter.schema.json.
ALTER TABLE projects ADD COLUMN span_filters TEXT NOT NULL DEFAULT '[]';
