import { keyOf, readOutlines, type SizedColumn, SIZED_COLUMNS } from '../trace/fragment.ts'
import { type PayloadWant, planPayload } from '../trace/payload-plan.ts'
import { byFragment, takePortion } from './derive-portions.ts'
import { fetchPayloads } from './fetch-payloads.ts'
import { FragmentSet } from './fragment-set.ts'
import type { TraceStore } from './trace-store.ts'

/** Bytes of payload in one answer, or of its only TraceRun: a page that would have more ends early. */
const ANSWER_BYTES = 32 * 1024 * 1024

/** The fragments of the TraceRuns that an answer shows whole. */
export interface ReadFragments {
  /** OUTLINE_COLUMNS. */
  outlines: Uint8Array
  /** PAYLOAD_COLUMNS. */
  payloads: Uint8Array[]
}

/** Of answers without payloads. */
export const NO_FRAGMENTS: ReadFragments = { outlines: new Uint8Array(0), payloads: [] }

/** What an answer needs of the fragments of its TraceRuns. */
export interface ReadPlan {
  /** What is there already. */
  fragments: ReadFragments
  /** What is missing, and the bytes of all of it. */
  wants: readonly PayloadWant[]
  bytes: number
  /** How many of the TraceRuns fit into the answer, in order; at least one. */
  shown: number
}

/** Looks at what there is of TraceRuns of one workspace; what they are made of is then to be read, and no more. */
export async function planRead(
  store: Pick<TraceStore, 'outlines' | 'smallPayloads'>,
  workspace_id: string,
  run_ids: readonly string[],
): Promise<ReadPlan> {
  if (run_ids.length === 0) return { fragments: NO_FRAGMENTS, wants: [], bytes: 0, shown: 0 }
  const [only] = run_ids
  const [outlines, ...payloads] = await Promise.all([
    store.outlines(workspace_id, run_ids),
    // For a single TraceRun a second question would take most of the time.
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

/** Reads what was planned, or of that only `columns`. */
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

/** Fragments as far as they were read. */
export function fragmentsIn({ outlines, payloads }: ReadFragments): FragmentSet {
  const fragments = new FragmentSet()
  for (const outline of readOutlines(outlines)) fragments.add(outline)
  for (const rows of payloads) fragments.fill(rows)
  return fragments
}
