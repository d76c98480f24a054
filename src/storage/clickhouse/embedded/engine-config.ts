/** Memory limits of the embedded engine in bytes: in total, and for one query. */
export interface EngineMemory {
  readonly total: number
  readonly perQuery: number
}

const MB = 1024 * 1024

/** Limits for a small machine, on which the server itself uses 300 MB. */
export const DEFAULT_MEMORY: EngineMemory = { total: 1024 * MB, perQuery: 640 * MB }

/**
 * The engine's configuration file. It contains the server-wide settings, which a later SET cannot change: caches for a
 * small machine, and two merges at a time. Every part is synced to the disk before its insert or merge is confirmed, so
 * that confirmed rows survive a power cut. `durable-names.ts` does the same for the name of the part.
 */
export function engineConfigXml(memory: EngineMemory): string {
  const server = {
    max_server_memory_usage: memory.total,
    mark_cache_size: 64 * MB,
    primary_index_cache_size: 64 * MB,
    index_mark_cache_size: 16 * MB,
    uncompressed_cache_size: 0,
    compiled_expression_cache_size: 16 * MB,
    query_condition_cache_size: 16 * MB,
    max_thread_pool_free_size: 4,
    background_pool_size: 2,
    // A deletion waits for one background job per part. While both threads are busy, the engine tries again after this
    // number of seconds. With the default values (0.1 and a random time up to 1), deleting from 8 parts takes 2 s
    // instead of 0.1 s.
    background_processing_pool_thread_sleep_seconds_if_nothing_to_do: 0.01,
    background_processing_pool_task_sleep_seconds_when_no_work_random_part: 0.02,
    // Factor from one pause to the next while a table has no work. With the default of 1.1, all tables together take 11
    // ms of CPU a second after an insert instead of 5. With 2, deletions take three times as long.
    background_processing_pool_task_sleep_seconds_when_no_work_multiplier: 1.5,
    background_merges_mutations_concurrency_ratio: 1,
    background_schedule_pool_size: 4,
    background_common_pool_size: 2,
    background_move_pool_size: 1,
    background_fetches_pool_size: 1,
    tables_loader_foreground_pool_size: 2,
    tables_loader_background_pool_size: 2,
  }
  const mergeTree = {
    fsync_after_insert: 1,
    fsync_part_directory: 1,
    min_rows_to_fsync_after_merge: 1,
    // Rows with payloads are large, so small merge blocks limit the peak of memory. Fewer rounds of merging save a
    // tenth of the whole cost of an insert (measured).
    merge_max_block_size_bytes: 2 * MB,
    merge_selector_base: 10,
    // A part below this size has one file for all columns, a larger one two or more for each: `runs` has three hundred.
    // Files cost more than rows in small parts, and so does reading one row. Scans of a few columns cost more.
    min_bytes_for_wide_part: 32 * MB,
    // Seconds for which parts are kept that a merge or a deletion has replaced: enough for the names of the new ones to
    // reach the disk, as their content does before. With the default of 480, a large deletion keeps nearly all of them.
    old_parts_lifetime: 60,
    // Seconds between two searches for such parts: with the default, up to 300 in a table that is not written.
    cleanup_delay_period: 10,
    max_cleanup_delay_period: 30,
    exclude_deleted_rows_for_part_size_in_merge: 1,
    number_of_free_entries_in_pool_to_execute_mutation: 1,
    number_of_free_entries_in_pool_to_lower_max_size_of_merge: 1,
  }
  return `<clickhouse>\n${elements(server)}<merge_tree>\n${elements(mergeTree)}</merge_tree>\n</clickhouse>\n`
}

/**
 * Number of executions of a query after which the engine compiles parts of it. Compiling takes as long as many queries
 * on small tables.
 */
const COMPILED_AFTER = 100
const COMPILED_LATE = [
  'min_count_to_compile_expression',
  'min_count_to_compile_aggregate_expression',
  'min_count_to_compile_sort_description',
]

/** Default settings of queries; a request can override them. Times in seconds, sizes in bytes. */
export function defaultSettings(memory: EngineMemory): ReadonlyMap<string, string> {
  return new Map([
    ['max_execution_time', '60'],
    ['max_memory_usage', String(memory.perQuery)],
    ['max_bytes_before_external_group_by', String(Math.floor(memory.perQuery / 2))],
    ['max_bytes_before_external_sort', String(Math.floor(memory.perQuery / 2))],
    ['max_query_size', String(16 * MB)],
    ...COMPILED_LATE.map((name): [string, string] => [name, String(COMPILED_AFTER)]),
  ])
}

function elements(values: Readonly<Record<string, number>>): string {
  return Object.entries(values)
    .map(([name, value]) => `<${name}>${value}</${name}>\n`)
    .join('')
}
