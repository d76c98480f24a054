import assert from 'node:assert/strict'
import fc from 'fast-check'
import { newUuid } from '../../../../src/base/ids.ts'
import { createLogger } from '../../../../src/base/log.ts'
import { retentionSweep } from '../../../../src/ingest/deletion/retention.ts'
import { STORED_COLUMNS } from '../../../../src/ingest/store/stored-columns.ts'
import type { TraceStore } from '../../../../src/ingest/store/trace-store.ts'
import type { ClickHouse } from '../../../../src/storage/clickhouse/connect.ts'
import { createTraceDeletion } from '../../../../src/storage/clickhouse/deleting/deletion.ts'
import { createTraceStore } from '../../../../src/storage/clickhouse/trace-store.ts'
import {
  emptyFragment,
  RANK,
  readOutlines,
  readPayloads,
  writeFragment,
} from '../../../../src/trace/rows/fragment.ts'
import { RowWriter } from '../../../../src/trace/rows/row-binary.ts'
import { TRACE_RUN_ROWS } from '../../../../src/trace/rows/trace-run-row.ts'
import { settableClock } from '../../faults/test-clock.ts'
import { insertEarlierFragments } from './earlier-fragments.ts'
import { traceRunRow } from './trace-store.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const RUNS = 6
const logger = createLogger({ level: 'silent' })

/** A connection on which the statement that changes something fails after `commands` others; undefined: none fails. */
function failing(db: ClickHouse, commands: number | undefined): ClickHouse {
  let left = commands ?? Number.POSITIVE_INFINITY
  return {
    ...db,
    async command(...statement) {
      if (left-- <= 0) throw new Error('killed')
      await db.command(...statement)
    },
  }
}

/** The stored fragments of a workspace of its own, with what they should be. */
export class FragmentWorld {
  readonly #db: ClickHouse
  readonly workspace_id = newUuid()
  readonly projects = [newUuid(), newUuid()]
  readonly runs = Array.from({ length: RUNS }, () => newUuid())
  readonly keep = [0, 0]
  readonly clock = settableClock()
  readonly #byDay: TraceStore
  /** For each TraceRun the texts of its fragments, with their times of receipt. */
  readonly #expected = new Map<string, Map<string, number>>()
  #version = 0

  /** Worlds differ in their time, because expired days are freed for all workspaces. */
  constructor(db: ClickHouse, n: number) {
    this.#db = db
    this.clock.time = Date.UTC(2030, 0, 1) + n * 100 * DAY
    this.#byDay = createTraceStore(db, STORED_COLUMNS, async () => this.#keepDays())
  }

  #keepDays(): Map<string, number> {
    return new Map(this.projects.flatMap((id, i) => (this.keep[i]! > 0 ? [[id, this.keep[i]!]] : [])))
  }

  /** Stores a fragment, its row and, as derivation would, the earliest time of receipt. */
  async store({ run, text, late, placed, before }: Sent): Promise<void> {
    const run_id = this.runs[run]!
    const project_id = this.projects[run % 2]!
    const received_at = this.clock.time
    // The start of the trace, which may be on another day than the receipt.
    const start = new Date(received_at - late * HOUR).toISOString().replace(/[-:.]/g, '')
    const head = { id: run_id, ...(placed && { trace_id: this.runs[0], dotted_order: `${start}${run_id}` }) }
    const fragment = new RowWriter()
    writeFragment(fragment, {
      ...emptyFragment(this.workspace_id, run_id, RANK.update, received_at),
      project_id,
      head: Buffer.from(JSON.stringify(head)),
      inputs: Buffer.from(JSON.stringify(text)),
    })
    const rows = [fragment.finish()]
    await (before ? insertEarlierFragments(this.#db, rows) : this.#byDay.insert('fragments', rows))
    const known = this.#expected.get(run_id) ?? new Map<string, number>()
    this.#expected.set(run_id, known)
    known.set(`${JSON.stringify(head)}${text}`, received_at)
    const earliest = Math.min(this.#receivedAt.get(run_id) ?? received_at, received_at)
    this.#receivedAt.set(run_id, earliest)
    const row = new RowWriter()
    TRACE_RUN_ROWS.write(row, {
      ...traceRunRow(run + 1, {
        project_id,
        trace_id: run_id,
        received_at: earliest,
        version: ++this.#version,
      }),
      workspace_id: this.workspace_id,
      run_id,
    })
    await this.#byDay.insert('runs', [row.finish()])
  }

  readonly #receivedAt = new Map<string, number>()

  #forget(run_id: string): void {
    this.#expected.delete(run_id)
    this.#receivedAt.delete(run_id)
  }

  async delete(runs: readonly number[], killedAfter: number | undefined): Promise<void> {
    const run_ids = runs.map((run) => this.runs[run]!)
    const remove = (on: ClickHouse): Promise<void> =>
      createTraceDeletion(on, STORED_COLUMNS.runs).deleteRuns(this.workspace_id, run_ids)
    if (killedAfter !== undefined) await remove(failing(this.#db, killedAfter)).catch(() => undefined)
    await remove(this.#db)
    for (const run_id of run_ids) this.#forget(run_id)
  }

  /** One sweep of retention, as the server does it every hour. */
  async sweep(killedAfter: number | undefined): Promise<void> {
    const once = async (on: ClickHouse): Promise<void> => {
      const traces = { ...createTraceDeletion(on, STORED_COLUMNS.runs), page: 4 }
      const sweep = retentionSweep(
        {
          traces,
          deletions: {
            forget: async () => undefined,
            expiring: async () =>
              [...this.#keepDays()].map(([project_id, days]) => ({
                workspace_id: this.workspace_id,
                project_id,
                days,
              })),
          },
          clock: this.clock,
          logger,
          ready: Promise.resolve(),
          deletePage: (workspace_id, run_ids, expired_at) =>
            traces.deleteRuns(workspace_id, run_ids, { expired_at }),
        },
        HOUR,
      )
      await sweep.work(new AbortController().signal)
      await traces.freeSpace(new AbortController().signal)
    }
    if (killedAfter !== undefined) await once(failing(this.#db, killedAfter)).catch(() => undefined)
    await once(this.#db)
    for (const [i, run_id] of this.runs.entries()) {
      const days = this.keep[i % 2]!
      const received = this.#receivedAt.get(run_id)
      if (days > 0 && received !== undefined && received < this.clock.time - days * DAY) this.#forget(run_id)
    }
  }

  /** What the reads of the store return, and what they should return: sorted texts of each TraceRun. */
  async check(): Promise<void> {
    const { workspace_id, runs } = this
    const outlines = [...readOutlines(await this.#byDay.outlines(workspace_id, runs))]
    const hashes = outlines.map(({ hash }) => Buffer.from(hash, 'latin1').toString('hex'))
    const rows = await this.#byDay.payloads(workspace_id, {
      run_ids: runs,
      hashes,
      columns: ['head', 'inputs'],
    })
    const found = runs.map((run_id) => [run_id, new Set<string>()] as const)
    for (const { columns } of readPayloads(rows)) {
      const head = Buffer.from(columns.head).toString()
      const texts = found.find(([run_id]) => head.includes(`"id":"${run_id}"`))![1]
      texts.add(`${head}${JSON.parse(Buffer.from(columns.inputs).toString())}`)
    }
    const sorted = (texts: Iterable<string>): string[] => [...texts].sort()
    assert.deepEqual(
      found.map(([, texts]) => sorted(texts)),
      runs.map((run_id) => sorted(this.#expected.get(run_id)?.keys() ?? [])),
    )
    for (const run_id of runs) {
      const small = [...readPayloads(await this.#byDay.smallPayloads(workspace_id, run_id))]
      assert.equal(new Set(small.map(({ hash }) => hash)).size, this.#expected.get(run_id)?.size ?? 0)
    }
  }
}

export interface Sent {
  run: number
  text: string
  /** Hours between the start of the trace and the receipt. */
  late: number
  /** Whether the operation says its place in the trace. */
  placed: boolean
  /** Whether an earlier release stored it. */
  before: boolean
}

const killedAfter = fc.option(fc.integer({ min: 0, max: 14 }), { nil: undefined })
const run = fc.integer({ min: 0, max: RUNS - 1 })
const sent: fc.Arbitrary<Sent> = fc.record({
  run,
  text: fc.constantFrom('a', 'b', 'c'),
  late: fc.constantFrom(0, 1, 30),
  placed: fc.boolean(),
  before: fc.constantFrom(false, false, true),
})
/** What can happen to the fragments. */
export const step: fc.Arbitrary<(world: FragmentWorld) => Promise<void>> = fc.oneof(
  { weight: 6, arbitrary: sent.map((of) => (world: FragmentWorld) => world.store(of)) },
  {
    weight: 1,
    arbitrary: fc.tuple(fc.uniqueArray(run, { minLength: 1, maxLength: 3 }), killedAfter).map(
      ([runs, killed]) =>
        (world: FragmentWorld) =>
          world.delete(runs, killed),
    ),
  },
  { weight: 3, arbitrary: killedAfter.map((killed) => (world: FragmentWorld) => world.sweep(killed)) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(fc.constantFrom(0, 1), fc.constantFrom(0, 1, 2, 5))
      .map(([i, days]) => async (world: FragmentWorld) => {
        world.keep[i] = days
      }),
  },
  {
    weight: 3,
    arbitrary: fc.constantFrom(1, 13, 25, 49).map((hours) => async (world: FragmentWorld) => {
      world.clock.time += hours * HOUR
    }),
  },
)
