import { Readable } from 'node:stream'
import type { TraceReads, TraceRunQuery } from '../../../../query/trace-reads.ts'
import { CSV_HEAD, FILE_FORMATS, type FileFormat, PARQUET_COLUMNS } from '../../../../trace/json/run-lines.ts'
import { createParquetFile } from '../../../../trace/parquet/parquet.ts'
import {
  choiceParameter,
  flagParameter,
  integerParameter,
  optionalChoiceParameter,
  optionalTimeParameter,
  textParameter,
  uuidsParameter,
} from '../../../api/parameters.ts'
import { defined } from '../../request/body-fields.ts'
import { route, type PlatformRoute } from '../../route.ts'

/** Runs that one read returns; with payloads the bytes of a page are bounded as well. */
const PAGE = { lean: 500, whole: 100 }
const MOST_RUNS = 100_000
const PARQUET_TYPE = 'application/vnd.apache.parquet'
const TYPES = {
  csv: 'text/csv; charset=utf-8',
  jsonl: 'application/x-ndjson',
  parquet: PARQUET_TYPE,
} as const
/** The fields of a line with payloads. */
const WHOLE = [
  ...['id', 'trace_id', 'parent_run_id', 'session_id', 'name', 'run_type', 'status', 'dotted_order'],
  ...['start_time', 'end_time', 'first_token_time', 'error', 'tags', 'thread_id', 'extra', 'llm'],
  ...['prompt_tokens', 'completion_tokens', 'total_tokens', 'prompt_cost', 'completion_cost', 'total_cost'],
  ...['unpriced_runs', 'error_runs', 'feedback_stats', 'app_path', 'inputs', 'outputs'],
]

/** What a form writes around the pages of a file, and of each page. */
interface Frame {
  begin(): Uint8Array | string
  add(page: Uint8Array): Uint8Array
  end(): Uint8Array | string
}

function frameOf(format: FileFormat): Frame {
  if (format === 'parquet') return createParquetFile(PARQUET_COLUMNS)
  return { begin: () => (format === 'csv' ? CSV_HEAD : ''), add: (page) => page, end: () => '' }
}

type Read = (query: TraceRunQuery) => ReturnType<TraceReads['filePart']>

/** The pieces of a file of at most `limit` runs. Each page after the first one is read when the one before was taken. */
async function* pieces(
  frame: Frame,
  first: Awaited<ReturnType<Read>>,
  query: TraceRunQuery,
  limit: number,
  read: Read,
): AsyncGenerator<Uint8Array | string> {
  yield frame.begin()
  yield frame.add(first.bytes)
  let left = limit - query.limit
  for (let cursor = first.next; cursor !== null && left > 0; left -= query.limit) {
    const { bytes, next } = await read({ ...query, cursor, limit: Math.min(query.limit, left) })
    yield frame.add(bytes)
    cursor = next
  }
  yield frame.end()
}

/** `GET /runs/export`: the runs of a list as a file. */
export function exportRoute(): PlatformRoute {
  return route({
    method: 'GET',
    path: '/runs/export',
    needs: 'runs:read',
    summary: 'The runs of a list as a file of CSV, JSON lines or Parquet',
    description:
      'Newest first, streamed. Without `payloads`, inputs and outputs are their first 500 characters. Parquet has the columns of CSV, with types: costs are exact decimals, and tags JSON. A file that breaks off in the middle was not ended by the server: the connection is closed.',
    tag: 'Runs',
    query: {
      session: uuidsParameter('Runs of these projects.', 1),
      id: uuidsParameter('Only these runs.'),
      filter: textParameter('A filter expression.'),
      trace_filter: textParameter('A filter expression on the root of the trace.'),
      tree_filter: textParameter('A filter expression that a run of the trace satisfies.'),
      is_root: flagParameter('Only roots, or only other runs.', undefined),
      start_time: optionalTimeParameter('Only runs that started at or after it.'),
      end_time: optionalTimeParameter('Only runs that started before it.'),
      order_by: optionalChoiceParameter('Order other than by time, largest first; at most 10,000 runs.', [
        'latency',
        'total_tokens',
        'total_cost',
      ]),
      order: choiceParameter('Largest or newest first, or the other way.', ['desc', 'asc']),
      format: choiceParameter('The form of the file.', FILE_FORMATS),
      payloads: flagParameter('Whole inputs, outputs and messages.', false),
      limit: integerParameter('Number of runs after which the file ends.', {
        minimum: 1,
        maximum: MOST_RUNS,
        otherwise: MOST_RUNS,
      }),
    },
    reply: 'bytes',
    reply_type: 'application/x-ndjson',
    other_types: ['text/csv', PARQUET_TYPE],
    errors: ['store_unavailable', 'rate_limited'],
    async handle({ deps, principal, query: sent, gone }) {
      const { format, payloads, limit, session, id, order, start_time, end_time, ...filters } = sent
      const [from, to] = [start_time, end_time].map((time) => time && Math.round(time * 1000))
      const query: TraceRunQuery = {
        ...defined({ ...filters, start_time: from, end_time: to }),
        session,
        ...(id.length > 0 && { id }),
        ...(payloads && { select: WHOLE }),
        order,
        limit: Math.min(limit, payloads ? PAGE.whole : PAGE.lean),
      }
      const asker = { holder: principal.api_key_id, gone: gone() }
      const read: Read = (page) => deps.reads.filePart(principal.workspace_id, page, format, asker)
      // A query that cannot be read is refused before the file begins.
      const first = await read(query)
      const name = `runs_${new Date(deps.clock.now()).toISOString().slice(0, 10)}.${format}`
      const headers = {
        'content-type': TYPES[format],
        'content-disposition': `attachment; filename="${name}"`,
        'cache-control': 'no-store',
      }
      return { headers, body: Readable.from(pieces(frameOf(format), first, query, limit, read)) }
    },
  })
}
