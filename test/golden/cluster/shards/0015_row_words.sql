-- The texts of a row that search("…") looks into, as words in lower case, built later like index `words` of run_fragments
-- (0013): inserts and merges do not build it, and rows without it are scanned.
ALTER TABLE runs_local ON CLUSTER `weir_cluster` ADD INDEX IF NOT EXISTS words
    (lowerUTF8(concat(name, ' ', error, ' ', inputs_preview, ' ', outputs_preview, ' ', arrayStringConcat(mapKeys(metadata), ' '), ' ', arrayStringConcat(mapValues(metadata), ' '))))
    TYPE text(tokenizer = 'splitByNonAlpha');

ALTER TABLE runs_local ON CLUSTER `weir_cluster` MODIFY SETTING materialize_skip_indexes_on_merge = 0;
