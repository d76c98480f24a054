import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { ANSWER_MS, type Answer, hostileServer } from '../support/hostile-server.ts'
import { listTraceRuns } from '../support/stored-traces.ts'

const server = hostileServer()

/** Stored, or refused with words: never a 5xx, never slow. */
function expectDecided(answer: Answer): void {
  expect([202, 400, 413, 422]).toContain(answer.status)
  expect(answer.ms).toBeLessThan(ANSWER_MS)
  for (const { code, reason } of answer.body.rejected ?? []) {
    expect(code).toMatch(/^[a-z_]+$/)
    expect(reason.length).toBeLessThan(2_000)
  }
}

/** Sends one create as raw JSON text, by both routes; what was accepted can be read by id and in the list. */
async function sendRaw(record: (id: string) => string, session_name: string): Promise<Answer[]> {
  const [single, part] = [randomUUID(), randomUUID()]
  const json = { 'content-type': 'application/json' }
  const answers = [
    await server.send('/runs', record(single), json),
    await server.sendParts([{ name: `post.${part}`, data: record(part) }]),
  ]
  answers.forEach(expectDecided)
  for (const [index, id] of [single, part].entries()) {
    if (answers[index]?.status !== 202) continue
    expect((await server.read(id)).id).toBe(id)
  }
  const accepted = answers.filter(({ status }) => status === 202)
  if (accepted.length > 0 && session_name !== '') {
    expect(await listTraceRuns(server.weir(), session_name)).toHaveLength(accepted.length)
  }
  return answers
}

const LLM = {
  name: 'x',
  run_type: 'llm',
  start_time: '2026-11-20T09:00:00Z',
  end_time: '2026-11-20T09:00:01Z',
}

function create(fields: Record<string, unknown>, session_name: string) {
  return (id: string): string => JSON.stringify({ id, ...LLM, session_name, ...fields })
}

const deep = (depth: number, open = '{"a":', close = '}'): string =>
  `${open.repeat(depth)}1${close.repeat(depth)}`

describe('fields of the wrong type', () => {
  const WRONG: unknown[] = [5, -1.5, true, '', 'text', [], [[]], [1, 'a', null], {}, { a: { b: [] } }]
  const FIELDS = [
    'name',
    'run_type',
    'tags',
    'inputs',
    'outputs',
    'extra',
    'events',
    'error',
    'serialized',
    'start_time',
    'end_time',
    'session_name',
    'session_id',
    'trace_id',
    'parent_run_id',
    'dotted_order',
    'reference_example_id',
    'status',
  ]
  it.each(FIELDS)('%s', async (field) => {
    const ids = WRONG.map(() => randomUUID())
    const post = WRONG.map((value, i) => ({ id: ids[i], ...LLM, [field]: value }))
    const answer = await server.sendBatch({ post })
    expectDecided(answer)
    const rejected = new Set(answer.body.rejected?.map(({ run_id }) => run_id))
    expect(rejected.size + (answer.body.accepted ?? 0)).toBe(WRONG.length)
    for (const id of ids) {
      const read = await server.weir().fetch(`/api/v1/runs/${id}`)
      if (rejected.has(id)) expect(read.status).toBe(404)
      else expect((await server.read(id)).id).toBe(id)
    }
  })

  it('inside messages, usage, metadata, events and tools', async () => {
    const message = (content: unknown) => ({ inputs: { messages: [{ role: 'user', content }] } })
    const records = WRONG.flatMap((value) => [
      message(value),
      message([{ type: 'text', text: value }]),
      message([{ type: value }]),
      { inputs: { messages: value, model: value, tools: value } },
      { inputs: { messages: [{ role: value, content: 'x', tool_calls: value, tool_call_id: value }] } },
      { outputs: { choices: value, usage: value } },
      { outputs: { choices: [{ message: { role: 'assistant', content: value, tool_calls: value } }] } },
      { outputs: { usage_metadata: value, generations: value, llm_output: value } },
      {
        outputs: {
          usage_metadata: { input_tokens: value, output_tokens: value, input_token_details: value },
        },
      },
      { outputs: { content: value, stop_reason: value, candidates: value, output: value } },
      { extra: { metadata: value, invocation_params: value, runtime: value } },
      {
        extra: {
          metadata: { ls_model_name: value, ls_provider: value, usage_metadata: value, thread_id: value },
        },
      },
      { events: [{ name: value, time: value, kwargs: value }, value] },
      { tags: [value] },
    ])
    const post = records.map((record) => ({ id: randomUUID(), ...LLM, session_name: 'inside', ...record }))
    const answer = await server.sendBatch({ post })
    expect(answer).toMatchObject({ status: 202, body: { accepted: records.length, rejected: [] } })
    await server.weir().drained()
    expect(await listTraceRuns(server.weir(), 'inside')).toHaveLength(records.length)
    for (const { id } of post) expect((await server.read(id)).id).toBe(id)
  })

  it('whole bodies', async () => {
    for (const body of [
      '',
      'null',
      '[]',
      '5',
      '"x"',
      '{}',
      '[null]',
      '{"post":5}',
      '{"post":[null,5,"x",[]]}',
      '\0',
      '{"post":[{}]}',
    ]) {
      for (const path of ['/runs/batch', '/runs', '/runs/multipart']) {
        expectDecided({
          ...(await server.send(path, body, { 'content-type': 'application/json' })),
          ...(path === '/runs/multipart' && { status: 400 }),
        })
      }
    }
  })
})

describe('numbers', () => {
  const COUNTS = [
    '-5',
    '1e308',
    '-1e308',
    '9007199254740993',
    '1.5',
    '"12"',
    '18446744073709551616',
    'NaN',
    '-Infinity',
    '1e400',
  ]
  it.each(COUNTS)('a token count of %s', async (count) => {
    const usage = `{"input_tokens":${count},"output_tokens":${count},"total_tokens":${count},"input_token_details":{"cache_read":${count}},"total_cost":${count}}`
    const fields = `"inputs":{"messages":[{"role":"user","content":"hi"}]},"outputs":{"usage_metadata":${usage}}`
    const session_name = `count ${count}`
    const record = (id: string): string => `${create({}, session_name)(id).slice(0, -1)},${fields}}`
    for (const { status } of await sendRaw(record, session_name)) expect(status).toBe(202)
  })

  it.each([
    0,
    -1,
    1,
    1e300,
    -1e300,
    4_102_444_800_000,
    1.5e18,
    '1970-01-01T00:00:00Z',
    '2100-01-01T00:00:00Z',
    '1969-12-31',
    '1899-12-31T23:59:59Z',
    '0001-01-01T00:00:00Z',
    '9999-12-31T23:59:59.999999Z',
    '2026-02-30T00:00:00Z',
    '+275760-09-13T00:00:00Z',
  ])('a clock that says %s', async (time) => {
    const session_name = `clock ${time}`
    await sendRaw(
      create({ start_time: time, end_time: time, events: [{ name: 'new_token', time }] }, session_name),
      session_name,
    )
  })

  it('an end before the start, and a century after', async () => {
    for (const end_time of ['1970-01-01T00:00:00Z', '2100-01-01T00:00:00Z']) {
      const [answer] = await sendRaw(create({ end_time }, `end ${end_time}`), `end ${end_time}`)
      expect(answer?.status).toBe(202)
    }
  })
})

describe('text', () => {
  const lone = '\\ud800 \\udfff \\u0000'
  it('NUL and lone surrogates, escaped', async () => {
    const record = (id: string): string =>
      create(
        {
          name: '@',
          inputs: { '@': '@', messages: [{ role: '@', content: '@' }] },
          tags: ['@'],
          error: '@',
          extra: { metadata: { '@': '@', ls_model_name: '@', thread_id: '@' } },
        },
        'escaped',
      )(id).replaceAll('@', lone)
    for (const { status } of await sendRaw(record, 'escaped')) expect(status).toBe(202)
  })

  it('raw NUL, control characters and bytes that are no UTF-8', async () => {
    for (const bytes of [
      [0],
      [1, 2, 31],
      [0xff, 0xfe],
      [0xc3],
      [0xed, 0xa0, 0x80],
      [0xf8, 0x88, 0x80, 0x80, 0x80],
    ]) {
      const id = randomUUID()
      const [before, after] = create({ inputs: { text: '@' } }, 'bytes')(id).split('@')
      const body = Buffer.concat([Buffer.from(before ?? ''), Buffer.from(bytes), Buffer.from(after ?? '')])
      const answer = await server.send('/runs', body, { 'content-type': 'application/json' })
      expectDecided(answer)
      if (answer.status === 202) expect((await server.read(id)).id).toBe(id)
    }
  })

  it('names that every object has', async () => {
    for (const name of ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'valueOf']) {
      const metadata = `{"${name}":{"polluted":1},"ls_model_name":"${name}","ls_provider":"${name}"}`
      const record = (id: string): string =>
        `${create({ name, session_name: name, run_type: 'llm', tags: [name] }, name)(id).slice(0, -1)},"${name}":{"polluted":1},"inputs":{"${name}":{"polluted":1},"messages":[{"role":"${name}","content":[{"type":"${name}","${name}":1}],"${name}":2}]},"outputs":{"usage_metadata":{"${name}":1,"input_token_details":{"${name}":3}}},"extra":{"${name}":{},"metadata":${metadata}}}`
      for (const { status } of await sendRaw(record, name)) expect(status).toBe(202)
      const id = randomUUID()
      const attached = await server.sendParts([
        { name: `post.${id}`, data: create({ run_type: name }, '')(id) },
        { name: `attachment.${id}.${name}`, data: 'bytes', type: 'text/plain' },
      ])
      expect(attached.status).toBe(202)
      expect(Object.keys((await server.read(id))['attachments'] as object)).toEqual([name])
      expect(await (await server.weir().fetch(`/api/v1/runs/${id}/attachments/${name}`)).text()).toBe('bytes')
      const query = {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ select: [name], filter: `eq(name, "${name}")` }),
      }
      expect((await server.weir().fetch('/api/v1/runs/query', query)).status).toBeLessThan(500)
    }
  })

  it('bare NaN, and text where JSON should be, cost a field and not the run', async () => {
    const id = randomUUID()
    const answer = await server.sendParts([
      { name: `post.${id}`, data: create({}, '')(id) },
      { name: `post.${id}.inputs`, data: '{"x": NaN, "y": [Infinity, -Infinity]}' },
      {
        name: `post.${id}.outputs`,
        data: '[unable to serialize, circular reference is too complex to analyze]',
      },
    ])
    expect(answer).toMatchObject({ status: 202, body: { accepted: 1, rejected: [] } })
    expect(await server.read(id)).toMatchObject({ id, inputs: { x: null } })
  })

  it('ids that are no uuids are named, and cost nobody else', async () => {
    const good = randomUUID()
    const bad = [
      '',
      'x',
      '0',
      `${good}0`,
      good.replace('-', '_'),
      '../../etc/passwd',
      "' OR 1=1 --",
      '\u0000',
      'é'.repeat(2000),
      `urn:uuid:${good}`,
    ]
    const answer = await server.sendBatch({
      post: [...bad.map((id) => ({ ...LLM, id })), { ...LLM, id: good }],
    })
    expect(answer).toMatchObject({ status: 202, body: { accepted: 1 } })
    expect(answer.body.rejected?.every(({ code }) => code === 'invalid_run_id')).toBe(true)
    for (const id of bad.filter((text) => text !== '')) {
      const path = encodeURIComponent(id)
      const patch = await server
        .weir()
        .fetch(`/runs/${path}`, {
          method: 'PATCH',
          headers: { 'content-type': 'application/json' },
          body: '{}',
        })
      expect(patch.status).toBeGreaterThanOrEqual(400)
      expect(patch.status).toBeLessThan(500)
      const read = await server.weir().fetch(`/api/v1/runs/${path}`)
      expect([404, 422]).toContain(read.status)
    }
  })
})

describe('size and shape', () => {
  it.each([
    ['{"a":', '}'],
    ['[', ']'],
  ])('%s nested 1,000 and 100,000 deep', async (open, close) => {
    for (const depth of [1_000, 100_000]) {
      const nested = deep(depth, open, close)
      const wrap =
        (field: string) =>
        (id: string): string =>
          `${create({}, '')(id).slice(0, -1)},"${field}":${nested}}`
      for (const field of [
        'inputs',
        'outputs',
        'extra',
        'events',
        'serialized',
        'tags',
        'name',
        'unknown_field',
      ]) {
        await sendRaw(wrap(field), '')
      }
      await sendRaw(
        (id) =>
          `${create({}, '')(id).slice(0, -1)},"inputs":{"messages":[{"role":"user","content":${nested}}]},"extra":{"metadata":${nested}}}`,
        '',
      )
      expectDecided(await server.send('/runs/batch', nested, { 'content-type': 'application/json' }))
      expectDecided(
        await server.send('/runs/batch', `{"post":${nested}}`, { 'content-type': 'application/json' }),
      )
    }
  })

  it('huge tags, names, errors and metadata', async () => {
    const tags = Array.from({ length: 10_000 }, (_, i) => `tag ${i} ${'x'.repeat(80)}`)
    const metadata = Object.fromEntries(tags.map((tag, i) => [tag, { [tag]: i }]))
    const long = 'x'.repeat(1_000_000)
    const id = randomUUID()
    for (const fields of [
      { tags, extra: { metadata } },
      { tags: [long], name: long, error: long, run_type: long },
      { extra: { metadata: { [long]: long, ls_model_name: long, thread_id: long } } },
    ]) {
      const [answer] = await sendRaw(create(fields, ''), '')
      expect(answer?.status).toBe(202)
    }
    const session = await server.sendBatch({ post: [{ ...LLM, id, session_name: long }] })
    expectDecided(session)
  })

  it('10,000 runs in one batch, spread over 200 months', async () => {
    const session_name = 'months'
    const post = Array.from({ length: 10_000 }, (_, i) => {
      const start = new Date(Date.UTC(2010, i % 200, 1 + (i % 28), 0, 0, i % 60)).toISOString()
      return {
        id: randomUUID(),
        name: `m${i}`,
        run_type: 'tool',
        session_name,
        start_time: start,
        end_time: start,
        inputs: { i },
        outputs: { i },
      }
    })
    const answer = await server.sendBatch({ post })
    expect(answer).toMatchObject({ status: 202, body: { accepted: 10_000, rejected: [] } })
    console.log(`10,000 runs: acknowledged in ${Math.round(answer.ms)} ms`)
    const started = performance.now()
    await server.weir().drained()
    console.log(`10,000 runs over 200 months: stored in ${Math.round(performance.now() - started)} ms`)
    const listed = await listTraceRuns(server.weir(), session_name)
    expect(new Set(listed.map(({ id }) => id)).size).toBe(10_000)
    expect(listed).toHaveLength(10_000)
  })
})
