import { describe, expect, it } from 'vitest'
import type { TraceCaller } from './call-trace.ts'
import { createLeftCalls, type PendingCall } from './left-calls.ts'
import { testClock } from '../../test/support/faults/test-clock.ts'

const NOW = Date.parse('2026-01-01T12:00:00.000Z')
const caller: TraceCaller = { workspace_id: 'w', user_id: null, api_key_id: 'k' }

function callUntil(run_id: string, ms: number): PendingCall {
  return { caller, run_id, dotted_order: `d${run_id}`, ends_by: new Date(NOW + ms).toISOString() }
}

describe('calls that a server left', () => {
  it('end in error at the time by which they were over, and calls under way do not', async () => {
    const recorded: unknown[] = []
    const calls = [callUntil('dead', -120_000), callUntil('ending', -30_000), callUntil('running', 60_000)]
    const left = createLeftCalls({
      pending: async () => [...calls, { ...callUntil('odd', 0), ends_by: '' }],
      traces: { record: (_caller, body) => recorded.push(JSON.parse(Buffer.from(body).toString())) },
      clock: testClock(() => NOW),
    })
    expect(await left.end()).toBe(1)
    expect(recorded).toEqual([
      {
        post: [],
        patch: [
          {
            id: 'dead',
            trace_id: 'dead',
            dotted_order: 'ddead',
            session_name: 'playground',
            end_time: '2026-01-01T11:58:00.000Z',
            error: 'The server ended during the call.',
          },
        ],
      },
    ])
  })
})
