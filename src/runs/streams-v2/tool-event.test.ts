import { describe, expect, it } from 'vitest'
import { toolEvent } from './tool-event.ts'

describe('events of the channel tools', () => {
  it('are the same from the graphs of both languages', () => {
    const of = { tool_call_id: 't1' }
    const pairs = [
      [
        { event: 'on_tool_start', toolCallId: 't1', name: 'add', input: { a: 1 } },
        { event: 'tool-started', ...of, tool_name: 'add', input: { a: 1 } },
      ],
      [
        { event: 'on_tool_event', toolCallId: 't1', data: 'half' },
        { event: 'tool-output-delta', ...of, delta: 'half' },
      ],
      [
        { event: 'on_tool_end', toolCallId: 't1', output: 2 },
        { event: 'tool-finished', ...of, output: 2 },
      ],
      [
        { event: 'on_tool_error', toolCallId: 't1', error: { message: 'no' } },
        { event: 'tool-error', ...of, message: 'no' },
      ],
    ] as const
    for (const [javascript, python] of pairs) {
      expect(toolEvent(javascript)).toEqual(python)
      expect(toolEvent(python)).toEqual(python)
    }
  })
})
