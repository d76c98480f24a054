import { setImmediate as turn } from 'node:timers/promises'
import { createLogger } from '../../../src/base/log.ts'
import { createMetrics } from '../../../src/base/metrics.ts'
import { createDeriver, type ReadBack } from '../../../src/ingest/derive/deriver.ts'
import type { LogFrame } from '../../../src/ingest/log/ingest-log.ts'
import type { LaneTasks } from '../../../src/ingest/lane-tasks.ts'
import { createOpenFragments } from '../../../src/ingest/derive/open-fragments.ts'
import { createLaneRoutes, fragmentsOfPart, type LaneRoutes } from '../../../src/ingest/derive/lane-routes.ts'
import type { PriceStore } from '../../../src/ingest/prices/price-store.ts'
import { createStoreBatch, RECORD, type StoreBatch } from '../../../src/ingest/store/store-batch.ts'
import type { TraceStore } from '../../../src/ingest/store/trace-store.ts'
import { createUsageRecorder, type UsageStore } from '../../../src/usage/counting/recorder.ts'
import type { WorkerPool } from '../../../src/worker-threads/worker-pool.ts'
import { type CountedTrace, COUNTED_TRACE_ROWS } from '../../../src/usage/counting/counted-trace.ts'
import { keyOf, readFragments, type StoredFragment } from '../../../src/trace/rows/fragment.ts'
import { RowReader, RowWriter } from '../../../src/trace/rows/row-binary.ts'
import { TRACE_RUN_ROWS, type TraceRunRow } from '../../../src/trace/rows/trace-run-row.ts'
import { USAGE_CLAIM_ROWS, type UsageClaim } from '../../../src/usage/counting/claim.ts'
import { seededRandom } from '../seeded-random.ts'
import { outlineRows, payloadRows } from '../traces/outline-rows.ts'

/** The content of the tables. Rows are merged at random moments. */
interface Tables {
  fragments: Map<string, StoredFragment[]>
  /** By parent, then by child: whether the child waits for the parent. */
  waiting: Map<string, Map<string, boolean>>
  rows: TraceRunRow[]
  claims: UsageClaim[]
  counted: CountedTrace[]
}

/** Continues a process that is paused before its next step, or ends the process or the query instead. */
interface Step {
  (): void
  die(): void
  fail(): void
}

export interface WorldOptions {
  seed: number
  /** Batches of fragments (RowBinary) that each process stores in order. */
  processes: readonly (readonly Uint8Array[])[]
  /**
   * How often a process ends at a step and starts again with the batch that is not stored, or the query of a step fails
   * and the process repeats its work.
   */
  deaths: number
}

/** The counted traces when all processes have stored all of their batches, by workspace and trace. */
export interface Counted {
  traces: Map<string, CountedTrace>
  /** Rows of traces that count in two hours at the same time: there must be none. */
  doubles: CountedTrace[]
  /** Lean rows. */
  rows: TraceRunRow[]
}

/**
 * Runs the real steps from log frames to counted traces on tables in memory, for several processes at once. Before and
 * after every query to the store, one of the processes is chosen at random to continue.
 */
export async function runWorld({ seed, processes, deaths }: WorldOptions): Promise<Counted> {
  const random = seededRandom(seed)
  const tables: Tables = { fragments: new Map(), waiting: new Map(), rows: [], claims: [], counted: [] }
  const steps: Step[] = []
  let left = processes.length
  for (const batches of processes)
    void live(tables, steps, batches, processes.length === 1, random).then(() => left--)
  let toDie = deaths
  while (left > 0) {
    await turn()
    if (steps.length === 0) continue
    const [step] = steps.splice(Math.floor(random() * steps.length), 1) as [Step]
    if (toDie > 0 && random() < 0.1) {
      toDie--
      if (random() < 0.5) step()
      if (random() < 0.5) step.die()
      else step.fail()
    } else step()
    if (random() < 0.05) merge(tables, random)
  }
  return countedIn(tables)
}

/** Stores the batches. When the process is killed, its work is dropped and a new process continues. */
async function live(
  tables: Tables,
  steps: Step[],
  batches: readonly Uint8Array[],
  exclusive: boolean,
  random: () => number,
): Promise<void> {
  for (let at = 0; at < batches.length; ) {
    const { promise: death, resolve: die } = Promise.withResolvers<void>()
    let isAlive = true
    const gate = <T>(work: () => T): Promise<T> =>
      new Promise((resolve, reject) => {
        if (!isAlive) return
        const fail = (): void => reject(new Error('the store does not answer'))
        const end = (): void => {
          isAlive = false
          die()
        }
        const pauseBefore = (next: () => void): void =>
          void steps.push(Object.assign(() => isAlive && next(), { die: end, fail }))
        pauseBefore(() => {
          const value = work()
          pauseBefore(() => resolve(value))
        })
      })
    const storeBatch = process(tables, gate, exclusive, routesOf(random))
    const { signal } = new AbortController()
    const life = (async () => {
      let earlier = Promise.resolve()
      for (let next = at; next < batches.length; next++) {
        const payload = batches[next]!
        const position = { segment: 0, offset: next }
        const frame: LogFrame = {
          kind: RECORD.fragments,
          count: 1,
          received_at: 0,
          payload,
          start: position,
          end: position,
        }
        const batch = storeBatch([frame], earlier)
        await untilDone(() => batch.derive(signal))
        await earlier
        earlier = untilDone(() => batch.finish(signal)).then(() => void at++)
        // Batches overlap, except after a pause.
        if (random() < 0.3) await earlier
      }
      await earlier
    })()
    await Promise.race([life, death])
  }
}

async function untilDone(work: () => Promise<unknown>): Promise<void> {
  for (;;) {
    try {
      await work()
      return
    } catch {
      // The store did not answer: once more.
    }
  }
}

const ALWAYS = [{ from: 0, to: Number.POSITIVE_INFINITY }]

type Gate = <T>(work: () => T) => Promise<T>

const LANES = 3

/** The routes of the product, or others by which related TraceRuns are in different lanes. */
function routesOf(random: () => number): LaneRoutes {
  if (random() < 0.5) return createLaneRoutes({ lanes: LANES, laneBytes: 1, remembered: 4 })
  const lanes = new Map<string, number>()
  const laneOf = (key: string): number => {
    const lane = lanes.get(key) ?? Math.floor(random() * LANES)
    lanes.set(key, lane)
    return lane
  }
  return {
    divide(payloads) {
      const all = [...fragmentsOfPart({ payloads, rows: undefined })]
      return Array.from({ length: LANES }, (_, lane) => ({
        lane,
        payloads: all.filter(({ key }) => laneOf(key) === lane).map(({ row }) => row),
        rows: undefined,
        generation: 0,
      })).filter((part) => part.payloads.length > 0)
    },
  }
}

function process(tables: Tables, gate: Gate, exclusive: boolean, routes: LaneRoutes): StoreBatch {
  const prices: Pick<PriceStore, 'snapshot'> = { snapshot: async () => ({}) as never }
  return createStoreBatch({
    store: traceStore(tables, gate) as TraceStore,
    usage: createUsageRecorder({ store: usageStore(tables, gate), exclusive, periods: ALWAYS }),
    deriveLanes: { pools: inlineLanes(exclusive, LANES), routes },
    prices: prices as PriceStore,
    exclusive,
    logger: createLogger({ level: 'silent' }),
    metrics: createMetrics(),
  })
}

/** The work that derive lanes do in their threads; here it is done in this thread. */
export function inlineLanes(exclusive: boolean, lanes: number): WorkerPool[] {
  return Array.from({ length: lanes }, () => inlineLane(exclusive))
}

function inlineLane(exclusive: boolean): WorkerPool {
  const startEstimate = (): never => {
    throw new Error('these are of no type that has counts')
  }
  const memory = createOpenFragments(exclusive ? 1 << 20 : 0)
  const deriver = createDeriver({ processors: [], startEstimate }, memory)
  const run = async ({ name, input }: { name: string; input: unknown }): Promise<unknown> => {
    if (name !== 'derive-begin') return deriver.goOn(input as ReadBack)
    return deriver.begin(input as LaneTasks['derive-begin']['input'])
  }
  return {
    run: run as WorkerPool['run'],
    warm: async () => undefined,
    close: async () => undefined,
    queued: 0,
    running: 0,
  }
}

function traceStore(tables: Tables, gate: Gate): Partial<TraceStore> {
  const { fragments, waiting } = tables
  const of = (workspace_id: string, ids: readonly string[]) =>
    ids.flatMap((id) => fragments.get(keyOf(workspace_id, id)) ?? [])
  return {
    insert: (table, rows) =>
      gate(() => {
        for (const row of rows) {
          if (table === 'fragments') {
            for (const fragment of readFragments(Uint8Array.from(row)))
              fragments.set(fragment.key, [...(fragments.get(fragment.key) ?? []), fragment])
          } else if (table === 'waiting_children') {
            const reader = new RowReader(row)
            while (!reader.done) {
              const parent = keyOf(reader.uuid(), reader.uuid())
              const notes = waiting.get(parent) ?? new Map<string, boolean>()
              waiting.set(parent, notes.set(reader.uuid(), reader.u8() === 0))
            }
          } else if (table === 'runs') tables.rows.push(...TRACE_RUN_ROWS.readAll(Uint8Array.from(row)))
        }
      }),
    outlines: (workspace_id, ids) => gate(() => outlineRows(of(workspace_id, ids))),
    payloads: (workspace_id, { run_ids, hashes, columns }) =>
      gate(() =>
        payloadRows(
          of(workspace_id, run_ids).filter(({ hash }) =>
            hashes.includes(Buffer.from(hash, 'latin1').toString('hex')),
          ),
          columns,
        ),
      ),
    belowRoots: (_, trace_ids) =>
      gate(() =>
        liveRows(tables).flatMap(({ run_id, dotted_order }) => {
          const first = dotted_order.slice(22, 58)
          return run_id !== first && trace_ids.includes(first) ? [run_id] : []
        }),
      ),
    hasWaitingChildren: () => gate(() => waiting.size > 0),
    waitingChildren: (workspace_id, parents) =>
      gate(() =>
        parents.flatMap((parent_run_id) =>
          [...(waiting.get(keyOf(workspace_id, parent_run_id)) ?? [])].flatMap(([run_id, waits]) =>
            waits ? [{ parent_run_id, run_id }] : [],
          ),
        ),
      ),
  }
}

function usageStore(tables: Tables, gate: Gate): UsageStore {
  return {
    addClaims: (rows) =>
      gate(() => void tables.claims.push(...rows.flatMap((row) => [...USAGE_CLAIM_ROWS.readAll(row)]))),
    claims: (workspace_id, trace_ids) =>
      gate(() => {
        const out = new RowWriter()
        for (const claim of tables.claims)
          if (claim.workspace_id === workspace_id && trace_ids.includes(claim.trace_id))
            USAGE_CLAIM_ROWS.write(out, claim)
        return out.finish()
      }),
    addCounted: (rows) =>
      gate(() => void tables.counted.push(...rows.flatMap((row) => [...COUNTED_TRACE_ROWS.readAll(row)]))),
    mark: () => gate(() => undefined),
  }
}

/** Merges rows. ReplacingMergeTree may do so at any time. */
function merge(tables: Tables, random: () => number): void {
  tables.claims = replaced(tables.claims, random, claimKey, ({ rank }) => rank)
  tables.counted = replaced(tables.counted, random, countedKey, ({ version }) => version)
  tables.rows = replaced(tables.rows, random, rowKey, ({ version }) => BigInt(version))
}

/** Lean rows that are visible to readers. */
function liveRows({ rows }: Tables): TraceRunRow[] {
  const merged = replaced(
    rows,
    () => 1,
    rowKey,
    ({ version }) => BigInt(version),
  )
  return merged.filter(({ is_deleted }) => is_deleted === 0)
}

const claimKey = ({ workspace_id, trace_id, basis, hour }: UsageClaim) =>
  [workspace_id, trace_id, basis, hour].join()
const rowKey = ({ workspace_id, project_id, sort_time, run_id }: TraceRunRow) =>
  [workspace_id, project_id, sort_time, run_id].join()
const countedKey = ({ workspace_id, hour, trace_id }: CountedTrace) => [workspace_id, hour, trace_id].join()

/** Merges a random part of the rows: of these, only the highest version of each key is kept. All other rows stay. */
function replaced<R>(
  rows: readonly R[],
  random: () => number,
  keyOfRow: (row: R) => string,
  version: (row: R) => bigint,
): R[] {
  const kept: R[] = []
  const merged = new Map<string, R>()
  for (const row of rows) {
    if (random() < 0.3) {
      kept.push(row)
      continue
    }
    const known = merged.get(keyOfRow(row))
    if (known === undefined || version(row) >= version(known)) merged.set(keyOfRow(row), row)
  }
  return [...kept, ...merged.values()]
}

function countedIn(tables: Tables): Counted {
  const { counted } = tables
  const traces = new Map<string, CountedTrace>()
  const doubles: CountedTrace[] = []
  for (const row of replaced(
    counted,
    () => 1,
    countedKey,
    ({ version }) => version,
  )) {
    if (row.is_deleted === 1) continue
    const key = `${row.workspace_id} ${row.trace_id}`
    if (traces.has(key)) doubles.push(row)
    traces.set(key, row)
  }
  return { traces, doubles, rows: liveRows(tables) }
}
