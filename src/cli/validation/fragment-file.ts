import type { FragmentSource } from '../../trace/decode/gather-trace-runs.ts'
import { mayBeSpan } from '../../trace/otel/span/roots.ts'
import { readFragment, readFragments } from '../../trace/rows/fragment.ts'
import { RowReader } from '../../trace/rows/row-binary.ts'
import { createTemporaryFile } from './temporary-file.ts'

/** Fragments in a temporary file. Memory holds only their ids and positions. */
export interface FragmentFile extends FragmentSource {
  /** Adds fragments as RowBinary rows. */
  add(rows: Uint8Array): void
  close(): void
}

export function createFragmentFile(): FragmentFile {
  const file = createTemporaryFile()
  /** Position and length of each fragment, one after another, by TraceRun id. */
  const places = new Map<string, number[]>()
  const spans = new Set<string>()
  return {
    spans,
    add(rows) {
      const start = file.append(rows)
      for (const { run_id, head, row } of readFragments(rows)) {
        const known = places.get(run_id)
        const position = start + row.byteOffset - rows.byteOffset
        if (known === undefined) places.set(run_id, [position, row.byteLength])
        else known.push(position, row.byteLength)
        if (mayBeSpan({ head })) spans.add(run_id)
      }
    },
    ids: () => places.keys(),
    of(id) {
      const found = places.get(id) ?? []
      return found.flatMap((position, i) =>
        i % 2 === 1 ? [] : [readFragment(new RowReader(file.read(position, found[i + 1]!)))],
      )
    },
    close: () => file.close(),
  }
}
