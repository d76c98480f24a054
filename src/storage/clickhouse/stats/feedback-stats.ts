import type { StatsQuery, StatsStore } from '../../../ingest/store/stats-store.ts'
import type { ThreadWindow } from '../../../ingest/store/thread-store.ts'
import type { FeedbackFigures, FeedbackStats } from '../../../trace/json/feedback-stats.ts'
import type { ClickHouse, SqlParams } from '../connect.ts'
import { THREAD_TIMES } from '../list-sql.ts'
import { PROJECT, turnsSql } from '../threads/turns-sql.ts'
import { selectionOf } from './stats-sql.ts'

/**
 * Limits of the feedback in one response. The response has at most this many records, keys of a TraceRun, and values and
 * comments of a key.
 */
const MAX_RECORDS = 1_000_000
const MAX_KEYS = 100
const MAX_VALUES = 50
const MAX_COMMENTS = 5
/** Maximum characters of a key, a value or a comment; longer texts are cut. */
const MAX_TEXT = 200

/** SQL of the score of a feedback record as a number. Clients may also send true and false. */
const SCORE = "JSONExtract(body, 'score', 'Nullable(Float64)')"
const text = (field: string): string => `substringUTF8(JSONExtractString(body, '${field}'), 1, ${MAX_TEXT})`

type FeedbackRow = Omit<FeedbackFigures, 'values'> & {
  owner: string
  key: string
  given: [string, number][]
}

/** Feedback records as figures by key. */
export function readingFeedbackStats(clickhouse: ClickHouse) {
  return {
    feedbackOfRuns: async (workspace_id: string, run_ids: readonly string[]) => {
      const params = { workspace_id, feedback_runs: run_ids }
      if (!(await hasFeedback(clickhouse, params))) return new Map()
      return read(clickhouse, 'toString(run_id)', OF_RUNS, params)
    },

    feedbackOfOwners: async (workspace_id: string, runs: readonly { run_id: string; owner: string }[]) => {
      const params = { workspace_id, feedback_runs: runs.map(({ run_id }) => run_id) }
      if (!(await hasFeedback(clickhouse, params))) return new Map()
      const owner = "transform(toString(run_id), {owned:Array(String)}, {owners:Array(String)}, '')"
      const owners = { owned: params.feedback_runs, owners: runs.map((run) => run.owner) }
      return read(clickhouse, owner, OF_RUNS, { ...params, ...owners })
    },

    feedbackOfThreads: async (workspace_id: string, window: ThreadWindow, thread_ids: readonly string[]) => {
      const { project_id, from, to } = window
      const params = {
        workspace_id,
        project: project_id,
        threads: thread_ids,
        threads_from: from,
        threads_to: to,
      }
      const found = await clickhouse.rows(`${RATED_TRACES} LIMIT 1`, { params })
      if (found.length === 0) return new Map()
      const condition = `run_id IN (SELECT run_id FROM (${RATED_TURNS}))`
      return read(
        clickhouse,
        'thread',
        condition,
        params,
        `INNER JOIN (${RATED_TURNS}) AS turns USING (run_id)`,
      )
    },

    feedbackStats: async (workspace_id: string, query: StatsQuery) => {
      const { matched, params } = selectionOf(query)
      const condition = `run_id IN (SELECT run_id FROM runs FINAL WHERE ${matched})`
      const found = await read(clickhouse, "''", condition, { ...params, workspace_id })
      return found.get('') ?? {}
    },
  } satisfies Partial<StatsStore>
}

const OF_RUNS = 'run_id IN {feedback_runs:Array(UUID)}'

const RATED = 'run_id IN (SELECT run_id FROM feedback WHERE workspace_id = {workspace_id:UUID})'
/** The traces of the window of which a root has feedback. */
const RATED_TRACES = `SELECT trace_id FROM thread_runs
  WHERE ${PROJECT} AND filed = 'root_by_time' AND ${THREAD_TIMES} AND ${RATED}`
/** The traces of the threads in parameter `threads` whose root has feedback. */
const RATED_TURNS = `SELECT thread, run_id
  FROM (${turnsSql({ times: `${THREAD_TIMES} AND trace_id IN (${RATED_TRACES})`, named: false })})
  WHERE thread IN {threads:Array(String)} AND ${RATED}`

/**
 * Whether the TraceRuns have any feedback. Usually they have none, and this query takes a third of the time of the
 * statement for figures.
 */
async function hasFeedback(
  clickhouse: ClickHouse,
  params: { workspace_id: string; feedback_runs: readonly string[] },
): Promise<boolean> {
  if (params.feedback_runs.length === 0) return false
  const sql = `SELECT 1 FROM feedback WHERE workspace_id = {workspace_id:UUID} AND ${OF_RUNS} LIMIT 1`
  return (await clickhouse.rows(sql, { params })).length > 0
}

async function read(
  clickhouse: ClickHouse,
  owner: string,
  condition: string,
  params: SqlParams,
  join = '',
): Promise<Map<string, FeedbackStats>> {
  const rows = await clickhouse.rows<FeedbackRow>(feedbackSql(owner, condition, join), { params })
  const byOwner = new Map<string, FeedbackStats>()
  for (const { owner: id, key, given, ...figures } of rows) {
    // Without a prototype, so that a key may be `__proto__`.
    const known = byOwner.get(id) ?? (Object.create(null) as FeedbackStats)
    known[key] = { ...figures, values: Object.fromEntries(given) }
    byOwner.set(id, known)
  }
  return byOwner
}

/**
 * `condition` must be a condition on the key of the table, so that only the wanted bodies are read. `owner` may be a
 * column of the joined rows.
 */
function feedbackSql(owner: string, condition: string, join: string): string {
  return `SELECT ${owner} AS owner, key, toUInt32(count()) AS n,
      if(count(score) = 0, NULL, avg(score)) AS avg, min(score) AS min, max(score) AS max,
      if(count(score) = 0, NULL, stddevPop(score)) AS stdev, toUInt32(countIf(failed)) AS errors,
      arraySlice(arraySort(x -> (-x.2, x.1), CAST(sumMapIf(map(value, 1), value != ''), 'Array(Tuple(String, UInt32))')),
        1, ${MAX_VALUES}) AS given,
      arrayMap(x -> x.2, groupArraySortedIf(${MAX_COMMENTS})((-at, comment), comment != '')) AS comments,
      arraySort(groupUniqArrayIf(10)(source, source != '')) AS sources
    FROM (
      SELECT run_id, ${text('key')} AS key, ${SCORE} AS score, ${text('value')} AS value,
        ${text('comment')} AS comment, JSONExtractString(body, 'feedback_source', 'type') AS source,
        toUnixTimestamp64Milli(received_at) AS at, JSONExtractBool(body, 'error') AS failed
      FROM feedback FINAL PREWHERE workspace_id = {workspace_id:UUID} AND ${condition}
      LIMIT ${MAX_RECORDS}) AS given ${join}
    WHERE key != ''
    GROUP BY owner, key ORDER BY owner, key LIMIT ${MAX_KEYS} BY owner`
}
