-- The texts that search("…") looks into, as words in lower case: of a span, which is its `extra`, all of it. Inserts and
-- merges do not build the index, so that ingest stays as fast as it was: index-words.ts has it built while little comes
-- in. Rows without it are scanned.
ALTER TABLE run_fragments_local ON CLUSTER `weir_cluster` ADD INDEX IF NOT EXISTS words
    (lowerUTF8(concat(inputs, ' ', outputs, ' ', error, ' ', if(startsWith(extra, '\0'), extra, JSONExtractRaw(extra, 'metadata')))))
    TYPE text(tokenizer = 'splitByNonAlpha');

ALTER TABLE run_fragments_local ON CLUSTER `weir_cluster` MODIFY SETTING materialize_skip_indexes_on_merge = 0;
