import { describe, expect, it } from 'vitest'
import { endsRun, RUN_DONE, runView, STATE_UPDATE, threadView, wireName } from './views.ts'

function eventOf(event: string, run_id: string | null = 'r') {
  return { id: '1-0', position: 0, run_id, event, data: '{}' }
}

const ALL = [
  'metadata',
  'values',
  'updates|sub:1',
  'messages',
  'messages/partial',
  'error',
  RUN_DONE,
  STATE_UPDATE,
]

function shown(view: ReturnType<typeof runView>): string[] {
  return ALL.map((event) => eventOf(event))
    .filter(view)
    .map(wireName)
}

describe('the stream of a run', () => {
  it('has all of its events and no others', () => {
    const view = runView('r', null)
    expect(shown(view)).toEqual([
      'metadata',
      'values',
      'updates|sub:1',
      'messages',
      'messages/partial',
      'error',
    ])
    expect(view(eventOf('values', 'other'))).toBe(false)
  })

  it('can be filtered by modes, compared without namespace', () => {
    expect(shown(runView('r', ['updates']))).toEqual(['metadata', 'updates|sub:1', 'error'])
    expect(shown(runView('r', ['messages-tuple']))).toEqual(['metadata', 'messages', 'error'])
    expect(shown(runView('r', ['messages']))).toEqual(['metadata', 'messages/partial', 'error'])
  })

  it('ends with its run', () => {
    expect(endsRun(eventOf(RUN_DONE), 'r')).toBe(true)
    expect(endsRun(eventOf(RUN_DONE, 'other'), 'r')).toBe(false)
    expect(endsRun(eventOf('values'), 'r')).toBe(false)
  })
})

describe('the stream of a thread', () => {
  it('run_modes: what run streams carry, and the end of each run as metadata', () => {
    expect(shown(threadView(['run_modes']))).toEqual([...ALL.slice(0, 6), 'metadata'])
  })

  it('lifecycle: begin and end of runs', () => {
    expect(shown(threadView(['lifecycle']))).toEqual(['metadata', 'metadata'])
  })

  it('state_update: states, also those without a run', () => {
    expect(shown(threadView(['state_update']))).toEqual([STATE_UPDATE])
    expect(threadView(['state_update'])(eventOf(STATE_UPDATE, null))).toBe(true)
  })
})
