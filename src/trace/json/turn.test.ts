import { expect, it } from 'vitest'
import { traceRunRow } from '../../../test/support/stores/clickhouse/trace-store.ts'
import { type RunParts, selectedFields } from './selected-run.ts'
import { turnFields, type TurnParts } from './turn.ts'

it('a run that ended before it started took no time in API v2', () => {
  const root = traceRunRow(1, { start_time: 1_004, end_time: 1_000 })
  const turn = { root, sums: {}, details: {}, turn_number: 1, thread_id: 't' } as unknown as TurnParts
  expect(turnFields(new Set(['LATENCY']), turn)).toContainEqual(['latency', 0])
  const parts = { row: root, counts: {} } as unknown as RunParts
  expect(selectedFields(new Set(['LATENCY_SECONDS']), parts)).toContainEqual(['latency_seconds', 0])
})
