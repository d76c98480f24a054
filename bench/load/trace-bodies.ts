import { randomUUID } from 'node:crypto'

/**
 * Bodies of a few traces in the form that the LangSmith JS client sends: one request with the creates, one with the
 * updates.
 */
export interface TraceBodies {
  creates: Buffer
  updates: Buffer
}

export const BOUNDARY = '----LangSmithFormBoundarybench0000'
export const RUNS_OF_TRACE = 5
/** Number of different texts, so that compression and caches work as with real traffic. */
const TEMPLATES = 12

/** A placeholder for an id; it has the length of the id. */
const placeholder = (n: number): string => `~~~~${String(n).padStart(4, '0')}-aaaa-7aaa-8aaa-aaaaaaaaaaaa`

/**
 * Returns a function that makes text of about `size` characters from a fixed vocabulary. The same seed gives the same
 * texts.
 */
function createWriter(seed: number): (size: number) => string {
  let state = seed
  const random = (): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
  const syllables =
    'ta re mi lo ka ne su po di ve ra con ter pro al en ish ment tion able ive er ly ing st'.split(' ')
  const syllable = (): string => syllables[Math.floor(random() * syllables.length)]!
  const words = Array.from({ length: 3000 }, () =>
    Array.from({ length: 1 + Math.floor(random() * 3) }, syllable).join(''),
  )
  return (size) => {
    let text = ''
    while (text.length < size)
      text += `${words[Math.floor(random() ** 2 * words.length)]!}${random() < 0.08 ? '. ' : ' '}`
    return text.slice(0, size)
  }
}

interface WireRun {
  main: Record<string, unknown>
  inputs: unknown
  outputs: unknown
  extra: { metadata: Record<string, unknown>; runtime: unknown }
  events?: unknown
}

/** A chain with a retriever, two llm calls with about 6 KB of input and 2 KB of output each, and a tool. */
function traceRuns(trace: number, now: number, write: (size: number) => string): WireRun[] {
  const id = (run: number): string => placeholder(trace * RUNS_OF_TRACE + run)
  const iso = (ms: number): string => new Date(now + ms).toISOString().replace('Z', '001Z')
  const segment = (run: number, ms: number): string => iso(ms).replace(/[-:.]/g, '') + id(run)
  const [question, system, answer] = [write(300), write(2500), write(1700)]
  const documents = [write(900), write(900), write(900)]
  const usage = {
    input_tokens: 1650,
    output_tokens: 80,
    total_tokens: 1730,
    input_token_details: { cache_read: 512 },
  }
  const events = Array.from({ length: 30 }, (_, i) => ({
    name: 'new_token',
    time: new Date(now + 400 + i * 20).toISOString(),
  }))
  const runtime = { library: 'langsmith', runtime: 'node', sdk: 'langsmith-js', sdk_version: '0.10.5' }
  const llm = {
    ls_provider: 'openai',
    ls_model_name: 'gpt-4.1-mini',
    ls_model_type: 'chat',
    ls_temperature: 0.2,
  }
  const request = (more: unknown[]) => ({
    model: 'gpt-4.1-mini',
    messages: [
      { role: 'system', content: system },
      { role: 'user', content: question },
      { role: 'user', content: documents.join('\n') },
      ...more,
    ],
    tools: [
      {
        type: 'function',
        function: {
          name: 'lookup',
          description: write(300),
          parameters: { type: 'object', properties: { key: { type: 'string' } } },
        },
      },
    ],
  })
  const reply = (message: unknown) => ({
    model: 'gpt-4.1-mini-2025-04-14',
    choices: [{ index: 0, finish_reason: 'stop', message }],
    usage_metadata: usage,
  })
  const call = { id: 'call_1', type: 'function', function: { name: 'lookup', arguments: '{"key":"abc"}' } }
  const run = (
    n: number,
    name: string,
    run_type: string,
    start: number,
    end: number,
    inputs: unknown,
    outputs: unknown,
    more: Partial<WireRun> = {},
  ): WireRun => ({
    main: {
      id: id(n),
      trace_id: id(0),
      name,
      run_type,
      start_time: iso(start),
      end_time: now + end,
      session_name: 'bench',
      tags: ['bench'],
      dotted_order: n === 0 ? segment(0, 0) : `${segment(0, 0)}.${segment(n, start)}`,
      ...(n === 0 ? {} : { parent_run_id: id(0) }),
    },
    inputs,
    outputs,
    extra: { metadata: { thread_id: `thread-${trace}`, user_id: `u${trace % 50}` }, runtime },
    ...more,
  })
  const asLlm = { extra: { metadata: { ...llm, usage_metadata: usage }, runtime }, events }
  const first = request([])
  const second = request([
    { role: 'assistant', content: null, tool_calls: [call] },
    { role: 'tool', tool_call_id: 'call_1', content: write(250) },
  ])
  return [
    run(0, 'rag_agent', 'chain', 0, 2400, { question }, { answer }),
    run(
      1,
      'retrieve',
      'retriever',
      5,
      60,
      { query: question },
      { documents: documents.map((page_content) => ({ page_content, type: 'Document' })) },
    ),
    run(
      2,
      'ChatOpenAI',
      'llm',
      70,
      900,
      first,
      reply({ role: 'assistant', content: write(1600), tool_calls: [call] }),
      asLlm,
    ),
    run(3, 'lookup', 'tool', 910, 950, { key: 'abc' }, { output: write(250) }),
    run(4, 'ChatOpenAI', 'llm', 960, 2390, second, reply({ role: 'assistant', content: answer }), asLlm),
  ]
}

function multipart(op: 'post' | 'patch', runs: readonly WireRun[]): Buffer {
  const pieces: string[] = []
  const part = (name: string, value: unknown): void => {
    const body = JSON.stringify(value)
    const size = Buffer.byteLength(body)
    pieces.push(
      `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"\r\nContent-Type: application/json; length=${size}\r\n\r\n${body}\r\n`,
    )
  }
  for (const { main, inputs, outputs, extra, events } of runs) {
    const name = `${op}.${String(main['id'])}`
    const { end_time: _end, ...begun } = main
    part(name, op === 'post' ? begun : main)
    part(`${name}.${op === 'post' ? 'inputs' : 'outputs'}`, op === 'post' ? inputs : outputs)
    if (op === 'patch' && events !== undefined) part(`${name}.events`, events)
    part(`${name}.extra`, extra)
  }
  return Buffer.from(`${pieces.join('')}--${BOUNDARY}--\r\n`)
}

/** Returns a function that makes bodies of `perRequest` traces; each call uses new ids. */
export function createTraceBodies(perRequest: number): () => TraceBodies {
  const now = Date.now()
  const ids = perRequest * RUNS_OF_TRACE
  const templates = Array.from({ length: TEMPLATES }, (_, i) => {
    const write = createWriter(i + 1)
    const runs = Array.from({ length: perRequest }, (_, trace) => traceRuns(trace, now, write)).flat()
    return {
      creates: withPlaces(multipart('post', runs), ids),
      updates: withPlaces(multipart('patch', runs), ids),
    }
  })
  let next = 0
  return () => {
    const { creates, updates } = templates[next++ % TEMPLATES]!
    const fresh = Array.from({ length: ids }, () => randomUUID())
    return { creates: filled(creates, fresh), updates: filled(updates, fresh) }
  }
}

interface Template {
  body: Buffer
  /** The positions of each placeholder, by the number of the placeholder. */
  places: number[][]
}

function withPlaces(body: Buffer, ids: number): Template {
  const places = Array.from({ length: ids }, (_, n) => {
    const found: number[] = []
    for (let at = body.indexOf(placeholder(n)); at >= 0; at = body.indexOf(placeholder(n), at + 36))
      found.push(at)
    return found
  })
  return { body, places }
}

function filled({ body, places }: Template, ids: readonly string[]): Buffer {
  const copy = Buffer.from(body)
  for (const [n, at] of places.entries()) for (const place of at) copy.write(ids[n]!, place, 'latin1')
  return copy
}
