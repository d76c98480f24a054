import { chunksOf } from '../../base/chunks.ts'
import { AppError } from '../../base/errors.ts'
import { keyOf, readPayloads, type SizedColumn, SIZED_COLUMNS } from '../../trace/rows/fragment.ts'
import type { FragmentWant, WorkspaceWants } from './derive-portions.ts'
import type { TraceStore } from '../store/trace-store.ts'

/**
 * A fragment is read whole if its unwanted columns have at most these sizes, so that most fragments share one
 * statement.
 */
const SMALL_REST = { always: 1024, most: 16 * 1024 } as const

/**
 * Reads columns of stored fragments, as PAYLOAD_COLUMNS rows. The caller limits the size.
 * @throws AppError store_unavailable if a fragment is missing, for example on a replica that is behind
 */
export async function fetchPayloads(
  store: Pick<TraceStore, 'payloads'>,
  groups: readonly WorkspaceWants[],
): Promise<Uint8Array[]> {
  const found: Uint8Array[] = []
  for (const { workspace_id, wants } of groups) {
    const missing = new Set(wants.map(({ run_id, hash }) => keyOf(workspace_id, run_id) + hash))
    for (const [columns, alike] of byColumns(wants)) {
      const run_ids = [...new Set(alike.map(({ run_id }) => run_id))]
      const hashes = [...new Set(alike.map(({ hash }) => hash))]
      const rows = await store.payloads(workspace_id, { run_ids, hashes, columns })
      for (const { key, hash } of readPayloads(rows))
        missing.delete(key + Buffer.from(hash, 'latin1').toString('hex'))
      found.push(rows)
    }
    if (missing.size > 0)
      throw new AppError('store_unavailable', {
        message: 'A fragment that was seen before is not there now.',
      })
  }
  return found
}

/** Maximum number of fragments in one statement, whose parameters are their keys. */
const FRAGMENTS_PER_QUERY = 3000

/** Groups `wants` by the columns that they need, each group small enough for one statement. */
function byColumns(wants: readonly FragmentWant[]): [readonly SizedColumn[], FragmentWant[]][] {
  const groups = new Map<string, [readonly SizedColumn[], FragmentWant[]]>()
  for (const want of wants) {
    const isWhole = want.rest <= Math.max(SMALL_REST.always, Math.min(want.bytes, SMALL_REST.most))
    const columns = isWhole ? SIZED_COLUMNS : want.columns
    const id = columns.join()
    const group = groups.get(id)
    if (group) group[1].push(want)
    else groups.set(id, [columns, [want]])
  }
  return [...groups.values()].flatMap(([columns, alike]) =>
    chunksOf(alike, FRAGMENTS_PER_QUERY).map((some): [readonly SizedColumn[], FragmentWant[]] => [
      columns,
      some,
    ]),
  )
}

/** The buffers that can be transferred to another thread instead of being copied: those that share no memory. */
export function movable(parts: readonly Uint8Array[]): ArrayBuffer[] {
  return parts.flatMap(({ buffer, byteLength }) =>
    buffer instanceof ArrayBuffer && buffer.byteLength === byteLength ? [buffer] : [],
  )
}
