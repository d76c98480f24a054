-- Which TraceRuns have which attachments, by the SHA-256 of their bytes, so that nobody reads all fragments to find the
-- attachments that are not used any more. Fragments of before are added in the background (attachment-uses.ts).
CREATE TABLE IF NOT EXISTS attachment_uses_local ON CLUSTER `weir_cluster`
(
    sha256       FixedString(32),
    workspace_id UUID,
    run_id       UUID
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/{database}/{table}', '{replica}')
ORDER BY (sha256, workspace_id, run_id)
SETTINGS index_granularity = 1024, fsync_after_insert = 1;

CREATE TABLE IF NOT EXISTS attachment_uses ON CLUSTER `weir_cluster` AS attachment_uses_local ENGINE = Distributed('weir_cluster', 'weir', 'attachment_uses_local', cityHash64(run_id));

CREATE MATERIALIZED VIEW IF NOT EXISTS attachment_uses_feed ON CLUSTER `weir_cluster` TO attachment_uses_local AS
SELECT toFixedString(unhex(arrayJoin(extractAll(attachments, '[0-9a-f]{64}'))), 32) AS sha256, workspace_id, run_id
FROM fragments_local
WHERE attachments != '';

CREATE MATERIALIZED VIEW IF NOT EXISTS attachment_uses_feed_of_before ON CLUSTER `weir_cluster` TO attachment_uses_local AS
SELECT toFixedString(unhex(arrayJoin(extractAll(attachments, '[0-9a-f]{64}'))), 32) AS sha256, workspace_id, run_id
FROM run_fragments_local
WHERE attachments != '';
