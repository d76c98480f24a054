import { randomUUID } from 'node:crypto'
import { describe, expect, it, vi } from 'vitest'
import { campaignSample, LONG_MS } from '../../support/campaign.ts'
import { create, expectDecided, LLM, sendRaw } from '../../support/faults/hostile-records.ts'
import { hostileServer } from '../../support/faults/hostile-server.ts'
import { jsonBody } from '../../support/servers/weir-process.ts'
import { listTraceRuns } from '../../support/traces/stored-traces.ts'

// A server starts, and gets bodies of many megabytes.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

const server = hostileServer()

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
    await server.weir().drained()
    const { runs } = await server
      .weir()
      .json<{ runs: { id: string }[] }>('/api/v1/runs/query', jsonBody('POST', { id: ids, limit: 100 }))
    const stored = ids.filter((id) => !rejected.has(id))
    expect(runs.map(({ id }) => id).toSorted()).toEqual(stored.toSorted())
    for (const id of campaignSample(ids)) {
      const read = await server.weir().fetch(`/api/v1/runs/${id}`)
      expect(read.status).toBe(rejected.has(id) ? 404 : 200)
      expect(await read.json()).toMatchObject(rejected.has(id) ? {} : { id })
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
    for (const { id } of campaignSample(post)) expect((await server.read(id)).id).toBe(id)
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
    for (const { status } of await sendRaw(server, record, session_name)) expect(status).toBe(202)
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
      server,
      create({ start_time: time, end_time: time, events: [{ name: 'new_token', time }] }, session_name),
      session_name,
    )
  })

  it('an end before the start, and a century after it', async () => {
    for (const end_time of ['1970-01-01T00:00:00Z', '2100-01-01T00:00:00Z']) {
      const [answer] = await sendRaw(server, create({ end_time }, `end ${end_time}`), `end ${end_time}`)
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
    for (const { status } of await sendRaw(server, record, 'escaped')) expect(status).toBe(202)
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

  it('names that every JavaScript object has', async () => {
    for (const name of ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'valueOf']) {
      const metadata = `{"${name}":{"polluted":1},"ls_model_name":"${name}","ls_provider":"${name}"}`
      const record = (id: string): string =>
        `${create({ name, session_name: name, run_type: 'llm', tags: [name] }, name)(id).slice(0, -1)},"${name}":{"polluted":1},"inputs":{"${name}":{"polluted":1},"messages":[{"role":"${name}","content":[{"type":"${name}","${name}":1}],"${name}":2}]},"outputs":{"usage_metadata":{"${name}":1,"input_token_details":{"${name}":3}}},"extra":{"${name}":{},"metadata":${metadata}}}`
      for (const { status } of await sendRaw(server, record, name)) expect(status).toBe(202)
      const id = randomUUID()
      const attached = await server.sendParts([
        { name: `post.${id}`, data: create({ run_type: name }, '')(id) },
        { name: `attachment.${id}.${name}`, data: 'bytes', type: 'text/plain' },
      ])
      expect(attached.status).toBe(202)
      expect(Object.keys((await server.read(id))['attachments'] as object)).toEqual([name])
      expect(await (await server.weir().fetch(`/api/v1/runs/${id}/attachments/${name}`)).text()).toBe('bytes')
      const query = jsonBody('POST', { select: [name], filter: `eq(name, "${name}")` })
      expect((await server.weir().fetch('/api/v1/runs/query', query)).status).toBeLessThan(500)
    }
  })

  it('bare NaN, and text instead of JSON, invalidate a field and not the run', async () => {
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

  it('ids that are not UUIDs are reported, and affect no other run', async () => {
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
    const codes = answer.body.rejected?.map(({ code }) => code)
    expect(codes).toEqual(['missing_field', ...bad.slice(1).map(() => 'invalid_run_id')])
    for (const id of bad.slice(1)) {
      const path = encodeURIComponent(id)
      const patch = await server.weir().fetch(`/runs/${path}`, {
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
