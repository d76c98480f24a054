import { describe, expect, it } from 'vitest'
import { answerMessages } from './answer-messages.ts'
import { type CallResult, noResult, withEvent } from './answer.ts'
import { callBody } from './call-body.ts'
import {
  callBlock,
  type Draft,
  type DraftColumn,
  emptyDraft,
  namedTool,
  newColumn,
  newMessage,
  newTool,
  textBlock,
} from './draft.ts'

const column: DraftColumn = {
  ...newColumn('openai', ' gpt-4o-mini '),
  temperature: '0.5',
  stop: 'A\nB\n',
  max_tokens: '',
}
const prompt: Draft = { ...emptyDraft(), messages: [newMessage('user', [textBlock('hi')])] }

function refusal(draft: Draft, changed: Partial<DraftColumn> = {}): string {
  try {
    callBody(draft, { ...column, ...changed }, '')
  } catch (error) {
    return error instanceof Error ? error.message : ''
  }
  return 'nothing was refused'
}

describe('the request of a draft (N15)', () => {
  it('has what was typed, and nothing for empty fields', () => {
    expect(callBody(prompt, column, 'run-1')).toMatchObject({
      model: 'gpt-4o-mini',
      base_url: null,
      messages: [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }],
      tools: null,
      tool_choice: null,
      output_schema: null,
      parameters: { temperature: 0.5, stop: ['A', 'B'], max_tokens: null },
      source_run_id: 'run-1',
    })
  })

  it('leaves out empty messages, but no empty result of a tool', () => {
    const empty = { ...newMessage('tool'), tool_call_id: 'c1' }
    const { messages } = callBody(
      { ...prompt, messages: [newMessage('system'), ...prompt.messages, empty] },
      column,
      '',
    )
    expect(messages.map(({ role }) => role)).toEqual(['user', 'tool'])
  })

  it('names what cannot be sent, and where', () => {
    const call = { ...callBlock(), kind: 'call' as const, name: 'look', call_id: '', args: '{"a": 1,\n x}' }
    const messages = [newMessage('assistant', [call])]
    expect(refusal({ ...prompt, messages })).toMatch(/^The arguments of look is not JSON, line 2/)
    expect(refusal(emptyDraft())).toContain('The prompt is empty')
    const large = newMessage('user', [textBlock('x'.repeat(20 << 20))])
    expect(refusal({ ...prompt, messages: [large] })).toContain('a request may have 20 MiB')
    expect(refusal(prompt, { model: ' ' })).toBe('Name the model.')
    expect(refusal(prompt, { temperature: 'warm' })).toBe('Temperature must be a number, and is “warm”.')
    expect(refusal(prompt, { extra: '[1]' })).toBe('Further fields must be a JSON object.')
    expect(refusal({ ...prompt, tools: [newTool()] })).toBe('Tool 1 has no name.')
    expect(refusal({ ...prompt, messages: [newMessage('tool')] })).toContain('name the id of the call')
  })

  it('names the tool that must be called, and sends the prompt of a column of its own', () => {
    const tools = [{ ...newTool(), name: 'look' }]
    const own = {
      ...column,
      tool_choice: namedTool('look'),
      messages: [newMessage('user', [textBlock('own')])],
    }
    expect(callBody({ ...prompt, tools }, own, '')).toMatchObject({
      tool_choice: { name: 'look' },
      messages: [{ content: [{ text: 'own' }] }],
    })
    expect(refusal({ ...prompt, tools }, { tool_choice: namedTool('find') })).toBe(
      'The model must call find, which is not among the tools.',
    )
  })

  it('keeps numbers that JavaScript would round as they were typed', () => {
    const { parameters } = callBody(prompt, { ...column, extra: '{"n": 12345678901234567890}' }, '')
    expect(JSON.stringify(parameters?.extra)).toBe('{"n":12345678901234567890}')
  })
})

describe('an answer (N15)', () => {
  const events: [string, Record<string, unknown>][] = [
    ['run', { run_id: 'r' }],
    ['delta', { type: 'text', text: 'He' }],
    ['delta', { type: 'text', text: 'llo' }],
    ['delta', { type: 'tool_call', index: 0, id: 'c1', name: 'look', args: '{"a":' }],
    ['delta', { type: 'tool_call', index: 0, args: '1}' }],
    ['delta', { type: 'tool_call', index: -1, name: 'whole', args: '{}' }],
    ['usage', { input_tokens: 3, output_tokens: 4 }],
  ]
  const heard = (more: [string, Record<string, unknown>][]): CallResult =>
    [...events, ...more].reduce((result, [event, data]) => withEvent(result, event, data), noResult())

  it('is put together from its events', () => {
    expect(
      heard([['end', { model: 'm', duration_ms: 9, first_token_ms: 2, finish_reason: 'stop' }]]),
    ).toEqual({
      state: 'done',
      run_id: 'r',
      text: 'Hello',
      reasoning: '',
      model: 'm',
      finish_reason: 'stop',
      calls: [
        { index: 0, id: 'c1', name: 'look', args: '{"a":1}' },
        { index: 1, id: '', name: 'whole', args: '{}' },
      ],
      input_tokens: 3,
      output_tokens: 4,
      duration_ms: 9,
      first_token_ms: 2,
    })
    const failed = heard([
      ['error', { code: 'provider_failed', detail: 'no' }],
      ['end', {}],
    ])
    expect(failed).toMatchObject({ state: 'failed', problem: { code: 'provider_failed', detail: 'no' } })
  })

  it('becomes messages of the prompt, with an empty result for each call', () => {
    const messages = answerMessages(heard([]))
    expect(messages.map(({ role, tool_call_id }) => [role, tool_call_id])).toEqual([
      ['assistant', ''],
      ['tool', 'c1'],
      ['tool', 'call_1'],
    ])
  })
})
