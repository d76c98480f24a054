import { describe, expect, it } from 'vitest'
import { tokenRhythm } from './rhythm.ts'

const START = Date.parse('2026-03-01T10:00:00Z')
const at = (millis: number) => ({ name: 'new_token', time: new Date(START + millis).toISOString() })
const run = (...millis: number[]) => ({ start_time: new Date(START).toISOString(), events: millis.map(at) })

describe('the rhythm of tokens', () => {
  it('has the median, the longest pauses and the stalls', () => {
    const rhythm = tokenRhythm(run(500, 510, 520, 530, 1530, 1540, 1550))
    expect(rhythm?.median).toBe(10_000)
    expect(rhythm?.longest[0]).toEqual({ at: 530_000, length: 1_000_000, after: 4 })
    expect(rhythm?.longest).toHaveLength(5)
    expect(rhythm?.stalls).toEqual([{ at: 530_000, length: 1_000_000, after: 4 }])
  })

  it('reads events in any order, and other events not at all', () => {
    const { start_time, events } = run(30, 10, 20)
    const others = [
      { name: 'start', time: start_time },
      { name: 'new_token' },
      { name: 'new_token', time: 'x' },
    ]
    expect(tokenRhythm({ start_time, events: [...events, ...others] })?.times).toEqual([
      10_000, 20_000, 30_000,
    ])
  })

  it('says nothing about two tokens, or without a start', () => {
    expect(tokenRhythm(run(10, 20))).toBeUndefined()
    expect(tokenRhythm({ ...run(10, 20, 30), start_time: null })).toBeUndefined()
  })

  it('takes short pauses for no stall', () => {
    expect(tokenRhythm(run(10, 11, 12, 13, 60))?.stalls).toEqual([])
  })
})
