import { describe, expect, it } from 'vitest'
import {
  beginPreamble,
  endPreamble,
  newSessionState,
  preamble,
  type QueryContext,
  type SessionState,
  staleParam,
} from './session-state.ts'

function context(wanted: {
  database?: string
  settings?: Record<string, string>
  params?: Record<string, string>
}): QueryContext {
  return {
    database: wanted.database,
    settings: new Map(Object.entries(wanted.settings ?? {})),
    params: new Map(Object.entries(wanted.params ?? {})),
  }
}

function run(state: SessionState, wanted: QueryContext): string[] {
  const statements = preamble(state, wanted)
  beginPreamble(state, wanted)
  endPreamble(state, wanted)
  return statements
}

describe('the state of a session', () => {
  it('sends only settings that have changed', () => {
    const state = newSessionState()
    const wanted = context({ database: 'weir', settings: { max_threads: '2' }, params: { id: "a'\\t" } })
    expect(run(state, wanted)).toEqual(['USE `weir`', "SET max_threads = '2', param_id = 'a\\'\\\\t'"])
    expect(run(state, wanted)).toEqual([])
    expect(run(state, context({ database: 'weir', settings: { max_threads: '3' } }))).toEqual([
      "SET max_threads = '3'",
    ])
  })

  it('resets settings that a query does not use to their defaults', () => {
    const state = newSessionState()
    run(state, context({ settings: { max_threads: '2' } }))
    expect(run(state, context({}))).toEqual(['SET max_threads = DEFAULT'])
    expect(run(state, context({}))).toEqual([])
  })

  it('sends all settings again after a preamble that failed', () => {
    const state = newSessionState()
    const good = context({ database: 'weir', settings: { max_threads: '2' } })
    run(state, good)
    beginPreamble(state, context({ database: 'weir', settings: { nonsense: '1' } }))
    expect(preamble(state, good)).toEqual(['USE `weir`', "SET nonsense = DEFAULT, max_threads = '2'"])
  })

  it('finds a parameter of an earlier query that a statement uses without setting it', () => {
    const state = newSessionState()
    run(state, context({ params: { a: '1' } }))
    expect(staleParam(state, 'SELECT {a:UInt8}, {b:UInt8}', context({ params: { b: '1' } }))).toBe('a')
    expect(staleParam(state, 'SELECT {c:UInt8}', context({}))).toBeUndefined()
  })
})
