import { describe, expect, it } from 'vitest'
import { pickConfigurableHeaders } from './configurable-headers.ts'

describe('pickConfigurableHeaders', () => {
  it('RUN-34: a header cannot set the user or a key of the graph runtime', () => {
    const sent = { __pregel_read: 'x', langgraph_auth_user: 'x', checkpoint_id: 'x', 'x-a': '1' }
    expect(pickConfigurableHeaders({ includes: ['*'], excludes: [] }, sent)).toEqual({ 'x-a': '1' })
  })

  it('RUN-37: always takes the trace of a request, and what its baggage says of it', () => {
    const rule = { includes: [], excludes: ['*'] }
    const trace = { 'langsmith-trace': '20261128T000000000000Z1' }
    const baggage =
      'langsmith-project=a%20b, langsmith-tags=x%2Cy,langsmith-metadata=%7B%22n%22%3A1%7D,other=1'
    expect(pickConfigurableHeaders(rule, { ...trace, baggage })).toEqual({
      ...trace,
      'langsmith-project': 'a b',
      'langsmith-tags': ['x', 'y'],
      'langsmith-metadata': { n: 1 },
    })
    for (const wrong of [
      'langsmith-metadata=nonsense',
      'langsmith-project=%E0',
      '=',
      'langsmith-tags',
      '__proto__=1',
    ])
      expect(pickConfigurableHeaders(rule, { ...trace, baggage: wrong })).toEqual(trace)
    expect(pickConfigurableHeaders(rule, { baggage })).toEqual({})
  })
})
