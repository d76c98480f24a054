import type { Clock } from '../base/clock.ts'
import { AppError } from '../base/errors.ts'
import type { Logger } from '../base/log.ts'
import type { Metrics } from '../base/metrics.ts'
import type { Decoded, RequestHead } from '../trace/decode/decoded.ts'
import { patchUuid } from '../trace/rows/row-binary.ts'
import { blobsOf, tracesOf, withoutTraces } from '../trace/decode/named-trace.ts'
import { receiveTime } from '../usage/counting/claim.ts'
import type { DeletedIds, DeletionStore } from './deletion/deletion-store.ts'
import { rejectDeleted } from './deletion/deleted-traces.ts'
import type { BlobStore } from './store/blob-store.ts'
import type { DataDisk } from './store/data-disk.ts'
import type { IngestLog, LogPosition } from './log/ingest-log.ts'
import type { Accepted, Ingester, IngestHealth } from './ingester.ts'
import type { LaneTasks } from './lane-tasks.ts'
import type { ProjectStore } from './project-store.ts'
import { RECORD } from './store/store-batch.ts'
import type { StoreWriter } from './store/store-writer.ts'
import type { RateGate } from './rates/rate-gate.ts'
import type { Passage, UsageGate } from './usage-gate.ts'
import type { UsageRecorder } from '../usage/counting/recorder.ts'
import { BRIEF, PATIENT, settled } from './settled.ts'
import type { WorkerPool } from '../worker-threads/worker-pool.ts'

export interface IngesterDeps {
  decodeLane: WorkerPool
  projects: ProjectStore
  blobs: BlobStore
  log: IngestLog
  writer: StoreWriter
  disk: Pick<DataDisk, 'state'>
  /** The periods in which traces are counted. */
  usage: Pick<UsageRecorder, 'periods'>
  /** Enforces the monthly limits of callers; undefined when usage is not counted. */
  gate: UsageGate | undefined
  /** Enforces the limits a minute. */
  rates: RateGate
  /**
   * When a request is acknowledged. `log`: once it is on this node's disk; `store`: once ClickHouse has confirmed it.
   */
  ack: 'log' | 'store'
  /** Recently deleted traces, and attachments that may be unused. */
  deleted: DeletedIds & Pick<DeletionStore, 'noteBlobs'>
  logger: Logger
  metrics: Metrics
  clock: Clock
  /** Lanes to show in the health report, by name. */
  lanes: Readonly<Record<string, readonly Pick<WorkerPool, 'queued'>[]>>
}

/** Maximum number of requests that wait for a decoding thread; further requests are refused at once. */
const MAX_WAITING = 512
/** Age of the oldest waiting record above which the store counts as behind. */
const BEHIND_MS = 5_000

export function createIngester(deps: IngesterDeps): Ingester {
  const outcomes = deps.metrics.counter(
    'weir_ingest_outcomes_total',
    'Submitted items by outcome: stored, or the code they were rejected with.',
  )
  const rejected: Record<string, number> = {}
  const tally = { accepted: 0, truncated: 0 }

  function count(decoded: Decoded): void {
    const stored = decoded.count + decoded.feedback_count
    tally.accepted += stored
    if (decoded.truncated) tally.truncated++
    if (stored > 0) outcomes.inc({ code: 'stored' }, stored)
    for (const { code } of decoded.rejected) {
      rejected[code] = (rejected[code] ?? 0) + 1
      outcomes.inc({ code })
    }
  }

  return {
    async ingest(head, body, hold = () => true): Promise<Accepted> {
      if (deps.decodeLane.queued > MAX_WAITING) throw new AppError('overloaded')
      const received_at = receiveTime(head.received_at, deps.usage.periods)
      const span_filters =
        head.kind === 'otlp-traces' ? await deps.projects.spanFilters(head.workspace_id) : []
      const decoded = await decode(deps.decodeLane, { ...head, received_at, span_filters }, body)
      if (!hold(bytesOf(decoded))) throw new AppError('overloaded')
      await rejectDeleted(deps.deleted, head.workspace_id, decoded, deps.logger)
      await deps.rates.take(head, { runs: decoded.count, bytes: decoded.body_bytes }, head.is_own)
      const passage = await pass(deps.gate, head, decoded)
      let end: LogPosition | undefined
      try {
        await resolveProjects(deps.projects, head.workspace_id, decoded)
        if (passage?.refused) {
          Object.assign(decoded, withoutTraces(decoded.rows, passage.refused.traces))
          decoded.blobs = blobsOf(decoded.rows, decoded.blobs)
        }
        if (decoded.blobs.length > 0) await deps.blobs.put(decoded.blobs)
        end = await append(deps.log, head.received_at, decoded)
      } catch (error) {
        noteUnused(deps, decoded)
        throw error
      } finally {
        passage?.logged(end)
      }
      if (deps.ack === 'store' && end !== undefined) await deps.writer.reached(end)
      count(decoded)
      // After this error the caller sends the whole request again. Storing the accepted part twice changes nothing.
      if (passage?.refused) throw passage.refused.error
      return {
        accepted: decoded.count,
        feedback: decoded.feedback_count,
        rejected: decoded.rejected,
        truncated: decoded.truncated,
        warnings: passage?.warnings ?? [],
      }
    },
    settled: () => settled(deps, PATIENT),
    settledSoon: () => settled(deps, BRIEF),
    checkStoring: () => deps.writer.check(),
    health: () => health(deps, tally, rejected),
  }
}

function decode(lane: WorkerPool, head: RequestHead, body: Uint8Array): Promise<Decoded> {
  const input: LaneTasks['decode']['input'] = { head, body }
  const whole = body.buffer instanceof ArrayBuffer && body.byteLength === body.buffer.byteLength
  return lane.run<Decoded>({
    name: 'decode',
    input,
    ...(whole ? { transfer: [body.buffer] } : {}),
  })
}

/** Bytes that the decoded items take until they are durable. */
function bytesOf({ rows, feedback_rows, blobs }: Decoded): number {
  return rows.length + feedback_rows.length + blobs.reduce((sum, { bytes }) => sum + bytes.length, 0)
}

/** Checks a request against limits; undefined if there are none. */
function pass(
  gate: UsageGate | undefined,
  { workspace_id, api_key_id }: RequestHead,
  { count, rows }: Decoded,
): Passage | Promise<Passage> | undefined {
  if (gate === undefined || count === 0) return undefined
  return gate.pass({ workspace_id, api_key_id, traces: () => tracesOf(rows) })
}

/** Writes the project ids, which are unknown during decoding, into the rows. */
async function resolveProjects(
  projects: ProjectStore,
  workspace_id: string,
  decoded: Decoded,
): Promise<void> {
  for (const { session_id, session_name, offsets } of decoded.projects) {
    const known =
      session_id === null && session_name !== null ? projects.known(workspace_id, session_name) : undefined
    const id = known ?? (await projects.resolve(workspace_id, { session_id, session_name }))
    for (const offset of offsets) patchUuid(decoded.rows, offset, id)
  }
}

/** Makes the accepted items durable; undefined when there are none. */
async function append(
  log: IngestLog,
  received_at: number,
  decoded: Decoded,
): Promise<LogPosition | undefined> {
  const appends: Promise<LogPosition>[] = []
  if (decoded.count > 0)
    appends.push(
      log.append({ kind: RECORD.fragments, count: decoded.count, received_at, payload: decoded.rows }),
    )
  if (decoded.feedback_count > 0)
    appends.push(
      log.append({
        kind: RECORD.feedback,
        count: decoded.feedback_count,
        received_at,
        payload: decoded.feedback_rows,
      }),
    )
  const ends = await Promise.all(appends)
  return ends.at(-1)
}

/** Notes the attachments of a request that was not logged, which may be stored already: the client may never repeat it. */
function noteUnused({ deleted, clock, logger }: IngesterDeps, { blobs }: Decoded): void {
  const sha256s = blobs.map(({ sha256 }) => sha256)
  if (sha256s.length === 0) return
  deleted
    .noteBlobs(sha256s, clock.now())
    .catch((error: unknown) =>
      logger.warn({ err: error, attachments: sha256s.length }, 'unused attachments were not noted, and stay'),
    )
}

function health(
  deps: IngesterDeps,
  tally: { accepted: number; truncated: number },
  rejected: Record<string, number>,
): IngestHealth {
  const log = deps.log.stats()
  const store = deps.writer.progress()
  const disk = deps.disk.state()
  const behind = log.oldest_waiting_at !== null && deps.clock.now() - log.oldest_waiting_at > BEHIND_MS
  return {
    status: disk.problem?.code ?? (!store.up ? 'store_unavailable' : behind ? 'behind' : 'ok'),
    accepted: tally.accepted,
    stored: store.stored,
    derived: store.derived,
    rejected: { ...rejected },
    truncated_requests: tally.truncated,
    rate_limited: { requests: deps.rates.total.requests, last_at: isoOrNull(deps.rates.total.last_at) },
    waiting: log.items_waiting,
    oldest_waiting_at: isoOrNull(log.oldest_waiting_at),
    log: {
      bytes: log.bytes,
      max_bytes: log.max_bytes,
      segments: log.segments,
      last_recovery: log.recovered ?? null,
    },
    store: {
      up: store.up,
      last_error: store.last_error,
      last_confirmed_at: isoOrNull(store.last_confirmed_at),
    },
    disk,
    lanes: Object.fromEntries(
      Object.entries(deps.lanes).map(([name, pools]) => [
        name,
        { queued: pools.reduce((sum, { queued }) => sum + queued, 0) },
      ]),
    ),
  }
}

function isoOrNull(time: number | null): string | null {
  return time === null ? null : new Date(time).toISOString()
}

/** Registers the gauges of acknowledged items that the store has not confirmed. */
export function observeIngest(metrics: Metrics, ingester: Ingester): void {
  metrics.observedGauge(
    'weir_ingest_waiting',
    'Items acknowledged and not yet confirmed by the store.',
    () => ingester.health().waiting,
  )
  metrics.observedGauge(
    'weir_ingest_log_bytes',
    'Bytes of the ingest log that wait for the store.',
    () => ingester.health().log.bytes,
  )
}
