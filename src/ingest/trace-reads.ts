import type { FieldChoice } from '../trace/trace-run-json.ts'
import type { JsonObject } from '../schema/json.ts'
import type { ProjectCounts, ProjectStats } from './trace-store.ts'

/** Body of POST /api/v1/runs/query after its check (platform-api §2). Times are epoch microseconds. */
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
  /** Fields to return; absent = all that lists carry. */
  select?: string[]
  /** 1 to 100. */
  limit: number
  cursor?: string
  order: 'asc' | 'desc'
}

export interface TraceOptions {
  /** `lean` leaves out inputs, outputs and messages (D-19). */
  view: 'full' | 'lean'
  cursor?: string
}

/** Who asks: has a share of what takes long, and may leave. */
export interface Asker {
  holder: string
  gone: AbortSignal
}

/** Reads for one workspace; answers are ready JSON bytes in the shapes of platform-api §2, made off the event loop. */
export interface TraceReads {
  traceRun(workspace_id: string, id: string, choice?: FieldChoice): Promise<Uint8Array | undefined>
  trace(workspace_id: string, trace_id: string, options: TraceOptions): Promise<Uint8Array | undefined>
  /**
   * Queries with a filter wait for each other, with a share for each `holder`; others, of new runs mostly, do not wait.
   * @throws AppError invalid_request for a filter or cursor that cannot be read, rate_limited when the holder has too many
   * waiting
   */
  query(workspace_id: string, query: TraceRunQuery, asker?: Asker): Promise<Uint8Array>
  attachment(
    workspace_id: string,
    run_id: string,
    name: string,
  ): Promise<{ mime_type: string; size: number; sha256: string } | undefined>
  feedback(workspace_id: string, run_ids: readonly string[]): Promise<JsonObject[]>
  /** By project; without those that have no TraceRuns. */
  projectCounts(workspace_id: string, project_ids: readonly string[]): Promise<Map<string, ProjectCounts>>
  projectStats(workspace_id: string, project_ids: readonly string[]): Promise<Map<string, ProjectStats>>
  /** The validation report for any body that ingest takes, with the workspace's prices, as JSON bytes; stores nothing. */
  validate(
    workspace_id: string,
    type: { content_type: string; content_encoding: string },
    body: Uint8Array,
  ): Promise<Uint8Array>
}
