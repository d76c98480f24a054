import { expect, it } from 'vitest'
import { noteOf } from './node-state.ts'

it('a running node has a clock, which begins with the time of its earlier executions', () => {
  expect(noteOf({ state: 'running', count: 1, ms: 0, since: 1000 }, 3500)).toBe('● running 2.5 s')
  expect(noteOf({ state: 'running', count: 2, ms: 400, since: 1000 }, 1250)).toBe('● running × 2 650 ms')
  expect(noteOf({ state: 'running', count: 1 }, 3500)).toBe('● running')
  expect(noteOf({ state: 'error', count: 1, ms: 343 }, 9000)).toBe('✗ failed 343 ms')
  expect(noteOf({ state: 'interrupted', count: 1, ms: 12 }, 0)).toBe('waits')
})
