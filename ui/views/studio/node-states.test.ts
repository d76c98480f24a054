import { describe, expect, it } from 'vitest'
import { createNodeStates, statesAtEnd } from './node-states.ts'

describe('the states of nodes', () => {
  it('count executions and add up their times; #57 an error stays at its node', () => {
    const states = createNodeStates()
    states.add({ id: '1', name: 'plan', triggers: [] } as never, undefined, 0)
    expect(states.snapshot().get('plan')).toMatchObject({ state: 'running', count: 1, since: 0 })
    states.add({ id: '1', name: 'plan', result: [], interrupts: [] }, undefined, 10)
    states.add({ id: '2', name: 'plan', triggers: [] } as never, undefined, 20)
    states.add({ id: '2', name: 'plan', error: 'no', interrupts: [] }, undefined, 25)
    expect(states.snapshot().get('plan')).toEqual({ state: 'error', count: 2, ms: 15 })
  })

  it('at the end of a run, a node that a cancel stopped does not run on', () => {
    const states = createNodeStates()
    states.add({ id: '1', name: 'plan', triggers: [] } as never, undefined, 0)
    states.add({ id: '1', name: 'plan', result: [], interrupts: [] }, undefined, 10)
    states.add({ id: '2', name: 'write', triggers: [] } as never, undefined, 20)
    expect([...statesAtEnd(states.snapshot()).keys()]).toEqual(['plan'])
  })

  it('#28 have nodes that write nothing, and loses none of 20,000 events', () => {
    const states = createNodeStates()
    for (let n = 0; n < 10_000; n++) {
      states.add({ id: `${n}`, name: 'silent', triggers: [] } as never, undefined, n)
      states.add({ id: `${n}`, name: 'silent', result: null, interrupts: [] }, undefined, n)
    }
    expect(states.snapshot().get('silent')).toMatchObject({ state: 'success', count: 10_000 })
  })
})
