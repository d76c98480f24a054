import { keyOf, readOutlines, type SizedColumn, SIZED_COLUMNS } from '../trace/rows/fragment.ts'
import { type PayloadWant, planPayload } from '../trace/derive/payload-plan.ts'
import { byFragment, takePortion } from '../ingest/derive/derive-portions.ts'
import { fetchPayloads } from '../ingest/derive/fetch-payloads.ts'
import { FragmentSet } from '../ingest/derive/fragment-set.ts'
import type { TraceStore } from '../ingest/store/trace-store.ts'

/** Maximum bytes of payload in one response, unless it has a single TraceRun; a larger page ends early. */
const ANSWER_BYTES = 32 * 1024 * 1024

/** The fragments of the TraceRuns that a response shows completely. */
export interface ReadFragments {
  /** Rows of OUTLINE_COLUMNS. */
  outlines: Uint8Array
  /** Rows of PAYLOAD_COLUMNS. */
  payloads: Uint8Array[]
}

/** No fragments, for responses without payloads. */
export const NO_FRAGMENTS: ReadFragments = { outlines: new Uint8Array(0), payloads: [] }

/** The fragments that a response needs. */
export interface ReadPlan {
  /** The fragments that are already loaded. */
  fragments: ReadFragments
  /** Payloads that must still be read. */
  wants: readonly PayloadWant[]
  /** Size of the loaded fragments and the payloads to read. */
  bytes: number
  /** Number of the TraceRuns that fit into the response, in order; at least one. */
  shown: number
}

export async function planRead(
  store: Pick<TraceStore, 'outlines' | 'smallPayloads'>,
  workspace_id: string,
  run_ids: readonly string[],
): Promise<ReadPlan> {
  if (run_ids.length === 0) return { fragments: NO_FRAGMENTS, wants: [], bytes: 0, shown: 0 }
  const [only] = run_ids
  const [outlines, ...payloads] = await Promise.all([
    store.outlines(workspace_id, run_ids),
    // Payloads of a single TraceRun are read with its outlines, because a second query would take most of the time.
    ...(run_ids.length === 1 && only !== undefined ? [store.smallPayloads(workspace_id, only)] : []),
  ])
  const fragments = fragmentsIn({ outlines, payloads })
  const wants: PayloadWant[] = []
  let bytes = 0
  let shown = 0
  for (const run_id of run_ids) {
    const one = planPayload(fragments.of(keyOf(workspace_id, run_id)))
    if (shown > 0 && bytes + one.bytes > ANSWER_BYTES) break
    bytes += one.bytes
    for (const want of one.wants) wants.push(want)
    shown++
  }
  return { fragments: { outlines, payloads }, wants, bytes, shown }
}

/** Reads the planned payloads, or only their `columns`. */
export async function fetchRead(
  store: Pick<TraceStore, 'payloads'>,
  { fragments: { outlines, payloads: known }, wants }: ReadPlan,
  columns: readonly SizedColumn[] = SIZED_COLUMNS,
): Promise<ReadFragments> {
  const pending = wants.filter(({ column }) => columns.includes(column))
  const payloads = [...known]
  while (pending.length > 0) payloads.push(...(await fetchPayloads(store, byFragment(takePortion(pending)))))
  return { outlines, payloads }
}

export function fragmentsIn({ outlines, payloads }: ReadFragments): FragmentSet {
  const fragments = new FragmentSet()
  for (const outline of readOutlines(outlines)) fragments.add(outline)
  for (const rows of payloads) fragments.fill(rows)
  return fragments
}
