import { describe, expect, it } from 'vitest'
import { decodeJson } from '../../../../test/support/traces/decode-request.ts'
import { fragmentsOf, gatherTraceRuns } from '../../decode/gather-trace-runs.ts'
import { deriveLineage, neededParents } from './lineage.ts'

const ROOT = '01a1f83d-5201-7000-8000-00000000000a'
const CHILD = '01a1f83d-5201-7000-8000-00000000000b'
const [ROOT_SEGMENT, CHILD_SEGMENT] = [`20261120T090000000000Z${ROOT}`, `20261120T090001000000Z${CHILD}`]

/** The place of the only TraceRun of a create. */
function placeOf(fields: object) {
  const { rows } = decodeJson('create', { name: 'n', start_time: '2026-11-20T09:00:00Z', ...fields })
  const { traceRuns, parentOf } = gatherTraceRuns(fragmentsOf(rows))
  const [merged] = [...traceRuns()]
  const start = Date.parse('2026-11-20T09:00:00Z') * 1000
  return { ...deriveLineage(merged!, start, parentOf, []), needed: neededParents(merged!) }
}

describe('deriveLineage', () => {
  it('INGEST-12: writes a sent dotted_order in its normal form, which ends with the id', () => {
    const whole = `${ROOT_SEGMENT}.${CHILD_SEGMENT}`
    for (const sent of [whole, whole.replaceAll('-', ''), whole.toUpperCase(), whole.toLowerCase()]) {
      const { dotted_order, trace_id, parent_run_id } = placeOf({
        id: CHILD,
        trace_id: ROOT,
        parent_run_id: ROOT,
        dotted_order: sent,
      })
      expect({ dotted_order, trace_id, parent_run_id }).toEqual({
        dotted_order: whole,
        trace_id: ROOT,
        parent_run_id: ROOT,
      })
    }
  })

  it('INGEST-12: takes a TraceRun that names itself as its parent for a root', () => {
    expect(placeOf({ id: ROOT, parent_run_id: ROOT })).toMatchObject({
      trace_id: ROOT,
      parent_run_id: undefined,
      dotted_order: ROOT_SEGMENT,
      awaits: undefined,
      needed: [],
    })
  })
})
