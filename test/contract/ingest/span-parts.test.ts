import { expect, it } from 'vitest'
import { STORED_COLUMNS } from '../../../src/ingest/store/stored-columns.ts'
import { createTraceDeletion } from '../../../src/storage/clickhouse/deleting/deletion.ts'
import { NOT_HIDDEN } from '../../../src/storage/clickhouse/fragments/hidden-fragments.ts'
import { RANK } from '../../../src/trace/rows/fragment.ts'
import {
  idOf,
  PROJECT,
  useTraceStore,
  type TestTraceStore,
  traceRunRow,
  WORKSPACE,
} from '../../support/stores/clickhouse/trace-store.ts'
import { spanUuid } from '../../../src/trace/otel/span/ids.ts'

let traces: TestTraceStore
useTraceStore((store) => void (traces = store))

let stored = 0

/** Stores a fragment whose payload is its name. */
async function store(name: string, run_id: string, head: Record<string, string>): Promise<void> {
  // Some are stored by an earlier release.
  const table = stored++ % 2 === 0 ? 'fragments' : 'run_fragments'
  await traces.clickhouse.command(
    `INSERT INTO ${table} (workspace_id, run_id, rank, hash, project_id, head, extra)
     SELECT {workspace:UUID}, {run:UUID}, {rank:UInt8}, toFixedString({name:String}, 16), {project:UUID},
       {head:String}, {name:String}`,
    {
      params: {
        workspace: WORKSPACE,
        run: run_id,
        rank: RANK.update,
        project: PROJECT,
        name,
        head: JSON.stringify(head),
      },
    },
  )
}

async function left(): Promise<string[]> {
  const rows = await traces.clickhouse.rows<{ extra: string }>(
    `SELECT extra FROM (SELECT extra FROM run_fragments UNION ALL SELECT extra FROM fragments WHERE ${NOT_HIDDEN}) ORDER BY extra`,
  )
  return rows.map(({ extra }) => extra)
}

it('deletes the log records of a root, and of a span with an id of its own, with them', async () => {
  const [trace, sent, other] = [idOf(1), idOf(2), idOf(3)]
  const [root, child, foreign] = ['00000000000000a1', '00000000000000a2', '00000000000000a3'] as const
  const inTrace = (span_id: string) => ({ otel_trace_id: trace, span_id })
  await store('root', trace, { id: trace, trace_id: trace, span_id: root })
  await store('log of root', spanUuid(root), inTrace(root))
  // Another trace has a span with the same span id.
  await store('same span id', spanUuid(root), { id: spanUuid(root), trace_id: other, span_id: root })
  await store('its log', spanUuid(root), { otel_trace_id: other, span_id: root })
  await store('sent', sent, { id: sent, trace_id: trace, span_id: child })
  await store('alias of sent', spanUuid(child), { alias_of: sent, span_id: child })
  await store('log of sent', spanUuid(child), inTrace(child))
  await store('kept', other, { id: other, trace_id: other, span_id: foreign })
  await store('log of kept', spanUuid(foreign), { otel_trace_id: other, span_id: foreign })
  await traces.insert([1, 2].map((n) => traceRunRow(n, { trace_id: trace })))
  await createTraceDeletion(traces.clickhouse, STORED_COLUMNS.runs).deleteRuns(WORKSPACE, [trace, sent])
  expect(await left()).toEqual(['its log', 'kept', 'log of kept', 'same span id'])
})
