import type { WorkspaceIds } from '../../../src/ingest/derive/derive-batch.ts'
import type { WorkspaceWants } from '../../../src/ingest/derive/derive-portions.ts'
import type { Derived } from '../../../src/ingest/store/derived-writer.ts'
import { createDeriver, type Deriver } from '../../../src/ingest/derive/deriver.ts'
import { createOpenFragments } from '../../../src/ingest/derive/open-fragments.ts'
import { keyOf, readFragments, type StoredFragment } from '../../../src/trace/rows/fragment.ts'
import { mergeFragments } from '../../../src/trace/derive/merge.ts'
import type { MergedTraceRun } from '../../../src/trace/derive/merged-trace-run.ts'
import { SPAN_KEY } from '../../../src/trace/otel/span/span.ts'
import { RowReader, RowWriter } from '../../../src/trace/rows/row-binary.ts'
import { TRACE_RUN_ROWS, type TraceRunRow } from '../../../src/trace/rows/trace-run-row.ts'
import { otlpHead } from '../traces/otlp-body.ts'
import { outlineRows, payloadRows } from '../traces/outline-rows.ts'

const context = {
  processors: [],
  startEstimate: (): never => {
    throw new Error('These spans have no type with counts.')
  },
}
/** A store in memory for the deriver. It has fragments, and the newest version of each row. */
export class MemoryTraceStore {
  readonly rows = new Map<string, TraceRunRow>()
  readonly #fragments = new Map<string, StoredFragment[]>()
  readonly #children = new Map<string, Map<string, boolean>>()
  readonly #deriver: Deriver
  /** Number of read-back requests. */
  asked = 0
  /** Bytes of payload that were read back: in total, and in the largest response. */
  readonly readBack = { all: 0, most: 0 }

  constructor(memoryBytes: number, portionBytes?: number) {
    this.#deriver = createDeriver(context, createOpenFragments(memoryBytes), portionBytes)
  }

  take(payloads: readonly Uint8Array[], bare: ReadonlySet<string> = new Set()): Derived {
    for (const payload of payloads) this.#insert(payload)
    let step = this.#deriver.begin({ payloads, rows: undefined, generation: 0, headOnly: bare, periods: [] })
    while (step.kind === 'needs') {
      this.asked++
      step = this.#deriver.goOn({
        outlines: keysOf(step.outlines).map((key) => outlineRows(this.#fragments.get(key) ?? [])),
        payloads: step.payloads.length === 0 ? [] : [this.#payloads(step.payloads)],
        children: step.children_of.map(({ workspace_id, run_ids }) => ({
          workspace_id,
          pairs: run_ids.flatMap((parent_run_id) => this.#waiting(workspace_id, parent_run_id)),
        })),
        below: step.below.map(({ workspace_id, run_ids }) => ({
          workspace_id,
          run_ids: run_ids.flatMap((trace_id) => this.#below(trace_id)),
        })),
      })
    }
    this.#insert(step.adopted)
    this.#note(step.waiting)
    for (const row of TRACE_RUN_ROWS.readAll(step.rows)) {
      const known = this.rows.get(row.run_id)
      if (row.is_deleted === 0 && (known === undefined || known.version <= row.version))
        this.rows.set(row.run_id, row)
    }
    this.#note(step.resolved)
    return step
  }

  /** Children that wait for their parents. */
  get waiting(): number {
    return [...this.#children.values()].flatMap((notes) => [...notes.values()]).filter(Boolean).length
  }

  /** Keys of `extra` of a stored TraceRun. */
  readonly extraOf = (run_id: string): string[] => Object.keys(this.#merged(run_id).extra)

  readonly spanOf = (run_id: string): unknown => this.#merged(run_id).extra[SPAN_KEY]

  #merged(run_id: string): MergedTraceRun {
    return mergeFragments(this.#fragments.get(keyOf(otlpHead().workspace_id, run_id)) ?? [])
  }

  #insert(payload: Uint8Array): void {
    for (const fragment of readFragments(Uint8Array.from(payload))) {
      const known = this.#fragments.get(fragment.key) ?? []
      this.#fragments.set(fragment.key, [...known, fragment])
    }
  }

  #payloads(groups: readonly WorkspaceWants[]): Uint8Array {
    const out = new RowWriter()
    for (const { workspace_id, wants } of groups) {
      for (const { run_id, hash, columns } of wants) {
        const fragment = this.#fragments
          .get(keyOf(workspace_id, run_id))!
          .find((one) => Buffer.from(one.hash, 'latin1').toString('hex') === hash)!
        out.raw(payloadRows([fragment], columns))
      }
    }
    this.readBack.all += out.length
    this.readBack.most = Math.max(this.readBack.most, out.length)
    return out.finish()
  }

  #below(trace_id: string): string[] {
    return [...this.rows.values()]
      .filter((row) => row.run_id !== trace_id && row.dotted_order.slice(22, 58) === trace_id)
      .map(({ run_id }) => run_id)
  }

  #waiting(workspace_id: string, parent_run_id: string): { parent_run_id: string; run_id: string }[] {
    const notes = this.#children.get(keyOf(workspace_id, parent_run_id)) ?? new Map<string, boolean>()
    return [...notes].flatMap(([run_id, waits]) => (waits ? [{ parent_run_id, run_id }] : []))
  }

  #note(rows: Uint8Array): void {
    const reader = new RowReader(rows)
    while (!reader.done) {
      const key = keyOf(reader.uuid(), reader.uuid())
      const known = this.#children.get(key) ?? new Map<string, boolean>()
      this.#children.set(key, known.set(reader.uuid(), reader.u8() === 0))
    }
  }
}

function keysOf(groups: readonly WorkspaceIds[]): string[] {
  return groups.flatMap(({ workspace_id, run_ids }) => run_ids.map((id) => keyOf(workspace_id, id)))
}

/** A store after these batches, derived in order. */
export function storedIn(batches: readonly (readonly Uint8Array[])[], memoryBytes = 0): MemoryTraceStore {
  const store = new MemoryTraceStore(memoryBytes)
  for (const batch of batches) store.take(batch)
  return store
}
