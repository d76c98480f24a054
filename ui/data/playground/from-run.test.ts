import { describe, expect, it } from 'vitest'
import type { TraceRunRead as ReadRun } from '../../api/platform.gen.ts'
import { draftOfRun } from './from-run.ts'

function runWith(llm: object, params: object = {}): ReadRun {
  return {
    id: 'r',
    run_type: 'llm',
    inputs: {},
    extra: { invocation_params: params },
    llm,
  } as unknown as ReadRun
}

const INPUT = [
  { role: 'reasoning', content: [{ type: 'text', text: 'hm' }] },
  {
    role: 'user',
    content: [
      { type: 'text', text: 'hi' },
      { type: 'image', base64: 'AA==', mime_type: 'image/png' },
    ],
  },
  { role: 'assistant', content: [{ type: 'tool_call', id: 'c', name: 'look', args: { a: 1 } }] },
  { role: 'tool', tool_call_id: 'c', name: 'look', content: [] },
]

describe('the draft of a model call (N15)', () => {
  it('has its messages, tools, parameters, schema and model', () => {
    const params = {
      model: 'm',
      temperature: 0.2,
      max_completion_tokens: 9,
      stop_sequences: ['x', 'y'],
      stream: true,
      service_tier: 'standard_only',
      tool_choice: { type: 'any' },
      tools: [{ name: 'look', input_schema: { type: 'object' } }, { type: 'web_search' }],
      response_format: { type: 'json_schema', json_schema: { schema: { type: 'object' } } },
    }
    const { draft, notes } = draftOfRun(
      runWith({ provider: 'anthropic', model: 'm', messages: { input: INPUT } }, params),
    )
    expect(draft.messages.map(({ role, blocks }) => [role, blocks.map(({ kind }) => kind)])).toEqual([
      ['user', ['text', 'media']],
      ['assistant', ['call']],
      ['tool', ['text']],
    ])
    expect(draft.tools).toMatchObject([{ name: 'look' }])
    expect(JSON.parse(draft.output_schema)).toEqual({ type: 'object' })
    expect(draft.columns).toMatchObject([
      {
        provider: 'anthropic',
        model: 'm',
        temperature: '0.2',
        max_tokens: '9',
        stop: 'x\ny',
        tool_choice: 'required',
      },
    ])
    expect(JSON.parse(draft.columns[0]?.extra ?? '')).toEqual({ service_tier: 'standard_only' })
    expect(notes).toEqual(['1 of its tools are executed by the vendor and are left out.'])
  })

  it('has the thoughts of a model where they are signed, as Anthropic wants them back', () => {
    const content = [
      { type: 'reasoning', reasoning: 'hm' },
      { type: 'reasoning', reasoning: 'so', extras: { signature: 's' } },
      { type: 'tool_call', id: 'c', name: 'look', args: {} },
    ]
    const { draft } = draftOfRun(runWith({ messages: { input: [{ role: 'assistant', content }] } }))
    const blocks = draft.messages[0]?.blocks ?? []
    expect(blocks.map(({ kind }) => kind)).toEqual(['other', 'call'])
    expect(blocks[0]?.kind === 'other' && JSON.parse(blocks[0].text)).toEqual(content[1])
  })

  it.each([
    ['openai', 'openai', ''],
    ['google_genai', 'google', ''],
    ['ollama', 'openai-compatible', 'http://127.0.0.1:11434/v1'],
    ['groq', 'openai-compatible', ''],
  ])('calls a model of %s over %s', (named, provider, base_url) => {
    const { draft } = draftOfRun(runWith({ provider: named, model: 'm', messages: { input: INPUT } }))
    expect(draft.columns).toMatchObject([{ provider, base_url }])
  })

  it('says why messages and model are missing', () => {
    const checks = {
      format: { ok: false, reason: 'the inputs are no messages' },
      model: { ok: false, reason: 'ls_model_name is missing' },
    }
    expect(draftOfRun(runWith({ checks })).notes).toEqual([
      'The messages of the run could not be read: the inputs are no messages',
      'The model of the run is not known: ls_model_name is missing',
    ])
  })

  it('has what the API can express of its settings, and lists the others', () => {
    const tools = [{ type: 'function', function: { name: 'look', parameters: { type: 'object' } } }]
    const draftWith = (provider: string, params: object) =>
      draftOfRun(runWith({ provider, model: 'm', messages: { input: INPUT } }, { tools, ...params }))
    const openai = draftWith('openai', {
      tool_choice: { type: 'function', function: { name: 'look' } },
      response_format: { type: 'json_object' },
      reasoning: { effort: 'high', summary: 'auto' },
      store: true,
      previous_response_id: 'r_1',
      stream: true,
      max_retries: 2,
    })
    expect(openai.draft.columns[0]?.tool_choice).toBe('tool:look')
    expect(JSON.parse(openai.draft.columns[0]?.extra ?? '')).toEqual({
      response_format: { type: 'json_object' },
      reasoning_effort: 'high',
    })
    expect(openai.notes).toEqual([
      'These settings of the run are not sent: store, previous_response_id, reasoning.summary.',
    ])

    const gemini = draftWith('google_genai', {
      generationConfig: {
        temperature: 0.3,
        topP: 0.9,
        max_output_tokens: 7,
        stop_sequences: ['x'],
        topK: 4,
        thinkingConfig: { thinkingBudget: 0 },
        responseMimeType: 'application/json',
        candidateCount: 2,
      },
      toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['look'] } },
      safety_settings: [],
    })
    expect(gemini.draft.columns).toMatchObject([
      { temperature: '0.3', top_p: '0.9', max_tokens: '7', stop: 'x', tool_choice: 'tool:look' },
    ])
    expect(JSON.parse(gemini.draft.columns[0]?.extra ?? '')).toEqual({
      safetySettings: [],
      generationConfig: {
        topK: 4,
        thinkingConfig: { thinkingBudget: 0 },
        responseMimeType: 'application/json',
      },
    })
    expect(gemini.notes).toEqual(['These settings of the run are not sent: candidateCount.'])

    const claude = draftWith('anthropic', {
      tool_choice: { type: 'tool', name: 'look', disable_parallel_tool_use: true },
      output_config: { effort: 'low', format: { type: 'json_schema', schema: { type: 'object' } } },
    })
    expect(claude.draft.columns[0]?.tool_choice).toBe('tool:look')
    expect(JSON.parse(claude.draft.output_schema)).toEqual({ type: 'object' })
    expect(JSON.parse(claude.draft.columns[0]?.extra ?? '')).toEqual({ output_config: { effort: 'low' } })
    expect(claude.notes).toEqual([
      'These settings of the run are not sent: tool_choice.disable_parallel_tool_use.',
    ])
  })

  it('has the schema of the Responses API of OpenAI and of Gemini, and says when a forced tool is missing', () => {
    const schema = { type: 'object', properties: {} }
    const responses = draftOfRun(
      runWith(
        { provider: 'openai', model: 'm', messages: { input: INPUT } },
        {
          text: { format: { type: 'json_schema', name: 'a', schema }, verbosity: 'low' },
          tool_choice: 'find',
        },
      ),
    )
    expect(JSON.parse(responses.draft.output_schema)).toEqual(schema)
    expect(JSON.parse(responses.draft.columns[0]?.extra ?? '')).toEqual({ verbosity: 'low' })
    expect(responses.draft.columns[0]?.tool_choice).toBe('auto')
    expect(responses.notes).toEqual(['The call had to use the tool find, which is not among its tools.'])
    const config = { responseMimeType: 'application/json', response_schema: schema }
    const gemini = draftOfRun(
      runWith({ provider: 'google', model: 'm', messages: { input: INPUT } }, { config }),
    )
    expect([JSON.parse(gemini.draft.output_schema), gemini.draft.columns[0]?.extra]).toEqual([schema, ''])
  })
})
