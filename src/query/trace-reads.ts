import type { Outline, OutlineOptions } from './outline-reads.ts'
import type { FeedbackStats } from '../trace/json/feedback-stats.ts'
import type { Media } from '../trace/json/media.ts'
import type { FileFormat } from '../trace/json/run-lines.ts'
import type { FieldChoice } from '../trace/json/trace-run.ts'
import type {
  FacetField,
  Facets,
  SelectedRuns,
  StatsAnswer,
  StatsGrouping,
} from '../ingest/store/stats-store.ts'
import type { Differences } from './values/run-differences.ts'
import type { FeedbackQuery, OrderedBy, ProjectCounts, ProjectStats } from '../ingest/store/trace-store.ts'

/** Body of POST /api/v1/runs/query after its check. Times are epoch microseconds. */
export interface TraceRunQuery {
  session?: string[]
  trace?: string
  id?: string[]
  parent_run?: string
  is_root?: boolean
  run_type?: string
  start_time?: number
  end_time?: number
  error?: boolean
  /** LangSmith filter expression, e.g. `and(eq(run_type, "llm"), gt(total_tokens, 10))`. */
  filter?: string
  /** A filter expression on the root of the trace. */
  trace_filter?: string
  /** A filter expression that at least one TraceRun of the trace satisfies. */
  tree_filter?: string
  /** Text that the TraceRun contains. */
  search?: string
  /** Fields to return; absent for all fields of lists. */
  select?: string[]
  /** The form of the fields. */
  shown?: Omit<FieldChoice, 'select'>
  /** 1 to 100. */
  limit: number
  cursor?: string
  /** Absent for order by start time. */
  order_by?: OrderedBy
  order: 'asc' | 'desc'
}

export interface TraceSearch {
  trace: string
  query: string
  /** 1 to 100. */
  limit: number
  cursor?: string
}

/** Body of POST /api/v1/runs/stats after its check. */
export interface TraceRunStatsQuery
  extends Omit<TraceRunQuery, 'select' | 'shown' | 'limit' | 'cursor' | 'order' | 'order_by'> {
  group_by?: StatsGrouping
  /** Size of a bucket, in microseconds. */
  interval?: number
  histograms?: boolean
}

/** Body of POST /api/v1/runs/facets after its check. */
export interface TraceRunFacetQuery
  extends Omit<TraceRunQuery, 'select' | 'shown' | 'limit' | 'cursor' | 'order' | 'order_by'> {
  field: FacetField
  key?: string
  prefix?: string
  max_values: number
}

/** Body of POST /api/v1/runs/differences after its check. */
export interface TraceRunDifferenceQuery
  extends Omit<TraceRunQuery, 'select' | 'shown' | 'limit' | 'cursor' | 'order' | 'order_by'> {
  selected: SelectedRuns
}

export interface TraceRunStats extends StatsAnswer {
  /** Undefined for a query with groups or buckets. */
  feedback: FeedbackStats | undefined
}

export interface TraceOptions {
  /** `lean` leaves out inputs, outputs and messages (D-19). */
  view: 'full' | 'lean'
  cursor?: string
}

/** The caller of a query: key of the fair queue, and a signal that aborts when it disconnects. */
export interface Asker {
  holder: string
  gone: AbortSignal
}

export interface FeedbackPage {
  /** A JSON array. */
  body: Buffer
  /** Records of the page. */
  shown: number
  /** True if further records follow the page. */
  more: boolean
}

/** TraceRuns as a part of a file, and the cursor of the next page; null at the end. */
export interface FilePart {
  bytes: Uint8Array
  next: string | null
}

/** Reads for one workspace; responses are JSON bytes in LangSmith's shapes, made off the event loop. */
export interface TraceReads {
  /** With `media_link`, base64 data is replaced by links that begin with it. */
  traceRun(
    workspace_id: string,
    id: string,
    choice?: FieldChoice,
    media_link?: string,
  ): Promise<Uint8Array | undefined>
  /** The file at a JSON Pointer into the TraceRun. Only a file that `media_link` replaces by a link is returned. */
  media(workspace_id: string, id: string, pointer: string): Promise<Media | undefined>
  trace(workspace_id: string, trace_id: string, options: TraceOptions): Promise<Uint8Array | undefined>
  /**
   * Reads a list. Queries with a filter wait in a queue that is fair between holders; others, usually about new runs,
   * do not wait.
   * @throws AppError invalid_request for an invalid filter or cursor, rate_limited when the holder has too many waiting
   */
  query(workspace_id: string, query: TraceRunQuery, asker?: Asker): Promise<Uint8Array>
  /** A page of a list as a part of a file. Waits and throws like `query`. */
  filePart(workspace_id: string, query: TraceRunQuery, format: FileFormat, asker: Asker): Promise<FilePart>
  /**
   * The TraceRuns of a trace that contain a text, with the paths of the text, as NDJSON. Waits and throws like `query`
   * with a filter.
   */
  matches(workspace_id: string, search: TraceSearch, asker: Asker): Promise<Uint8Array>
  /**
   * The whole trace in columns, or its changes; undefined for an unknown trace.
   * @throws AppError invalid_request for a version that cannot be read
   */
  outline(workspace_id: string, trace_id: string, options: OutlineOptions): Promise<Outline | undefined>
  /** Waits and throws as `query` with a filter does. */
  stats(workspace_id: string, query: TraceRunStatsQuery, asker: Asker): Promise<TraceRunStats>
  /** Waits and throws as `query` with a filter does. */
  facets(workspace_id: string, query: TraceRunFacetQuery, asker: Asker): Promise<Facets>
  /** Waits and throws as `query` with a filter does. */
  differences(workspace_id: string, query: TraceRunDifferenceQuery, asker: Asker): Promise<Differences>
  attachment(
    workspace_id: string,
    run_id: string,
    name: string,
  ): Promise<{ mime_type: string; size: number; sha256: string } | undefined>
  /** A page of feedback on TraceRuns, newest first; at most 32 MB or one record, passed on without being parsed. */
  feedback(workspace_id: string, query: FeedbackQuery): Promise<FeedbackPage>
  /** Values by project; projects without TraceRuns are left out. */
  projectCounts(workspace_id: string, project_ids: readonly string[]): Promise<Map<string, ProjectCounts>>
  projectStats(workspace_id: string, project_ids: readonly string[]): Promise<Map<string, ProjectStats>>
  /**
   * The validation report for any body that ingest accepts, with the workspace's prices, as JSON bytes. Stores
   * nothing.
   */
  validate(
    workspace_id: string,
    type: { content_type: string; content_encoding: string },
    body: Uint8Array,
  ): Promise<Uint8Array>
}
