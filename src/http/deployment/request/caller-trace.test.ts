import { describe, expect, it } from 'vitest'
import { ofLangsmith, ofSpan } from './caller-trace.ts'

const TRACE = '0af76519-16cd-43dd-8448-eb211c80319c'
const RUN = '11111111-1111-4111-8111-111111111111'
const ORDER = `20261128T000000000000Z${TRACE}.20261128T000001000000Z${RUN}`

describe('RUN-37: the trace of a caller', () => {
  it('of LangSmith, with the project of its baggage', () => {
    const place = { trace_id: TRACE, parent_run_id: RUN, dotted_order: ORDER }
    expect(ofLangsmith({ 'langsmith-trace': ORDER })).toEqual(place)
    expect(ofLangsmith({ 'langsmith-trace': ORDER, 'langsmith-project': 'mine' })).toEqual({
      ...place,
      project: 'mine',
    })
    for (const wrong of ['', 'x', `${ORDER}.`, 'y'.repeat(9000)])
      expect(ofLangsmith({ 'langsmith-trace': wrong })).toBeUndefined()
  })

  it('of OpenTelemetry, if it is recorded', () => {
    const hex = TRACE.replaceAll('-', '')
    expect(ofSpan(`00-${hex}-b7ad6b7169203331-01`)).toEqual({
      trace_id: TRACE,
      parent_run_id: '00000000-0000-0000-b7ad-6b7169203331',
    })
    const none = [
      `00-${hex}-b7ad6b7169203331-00`,
      `ff-${hex}-b7ad6b7169203331-01`,
      `00-${'0'.repeat(32)}-b7ad6b7169203331-01`,
      `00-${hex}-${'0'.repeat(16)}-01`,
      '00-1-2-01',
      7,
      undefined,
    ]
    for (const wrong of none) expect(ofSpan(wrong)).toBeUndefined()
  })
})
