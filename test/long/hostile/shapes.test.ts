import { randomUUID } from 'node:crypto'
import { describe, expect, it, vi } from 'vitest'
import { create, expectDecided, LLM, sendAllRaw, sendRaw } from '../../support/faults/hostile-records.ts'
import { hostileServer } from '../../support/faults/hostile-server.ts'
import { jsonBody } from '../../support/servers/weir-process.ts'
import { LONG_MS } from '../../support/campaign.ts'

// A server starts, and gets bodies of many megabytes.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

const server = hostileServer()

const deep = (depth: number, open = '{"a":', close = '}'): string =>
  `${open.repeat(depth)}1${close.repeat(depth)}`

async function projects(): Promise<string[]> {
  const found = await server.weir().json<{ id: string }[]>('/api/v1/sessions?limit=100')
  return found.map(({ id }) => id)
}

describe('size and shape', () => {
  const FIELDS = ['inputs', 'outputs', 'extra', 'events', 'serialized', 'tags', 'name', 'unknown_field']

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
      const inside = (id: string): string =>
        `${create({}, '')(id).slice(0, -1)},"inputs":{"messages":[{"role":"user","content":${nested}}]},"extra":{"metadata":${nested}}}`
      await sendAllRaw(server, [...FIELDS.map(wrap), inside], '')
      expectDecided(await server.send('/runs/batch', nested, { 'content-type': 'application/json' }))
      expectDecided(
        await server.send('/runs/batch', `{"post":${nested}}`, { 'content-type': 'application/json' }),
      )
    }
  })

  it('deep JSON inside the text of tool arguments, and on every other route', async () => {
    const json = { 'content-type': 'application/json' }
    for (const nested of [deep(1_000), deep(60_000), deep(200_000, '[', ']')]) {
      const call = { id: 'c', type: 'function', function: { name: 'f', arguments: nested } }
      const outputs = { choices: [{ message: { role: 'assistant', content: null, tool_calls: [call] } }] }
      for (const { status } of await sendRaw(server, create({ outputs, error: nested }, ''), ''))
        expect(status).toBe(202)
      for (const path of ['/runs/query', '/sessions', '/feedback', '/runs/validate']) {
        for (const body of [
          nested,
          `{"name":"${randomUUID()}","extra":${nested},"key":"k","score":${nested}}`,
        ]) {
          const answer = await server.send(`/api/v1${path}`, body, json)
          expect([200, 400, 409, 413, 422], `${path} ${answer.status} ${body.length}`).toContain(
            answer.status,
          )
        }
      }
    }
    const selected = { select: ['inputs', 'outputs', 'extra', 'events'], limit: 100 }
    const page = await server.send(
      '/api/v1/runs/query',
      JSON.stringify({ ...selected, session: await projects() }),
      json,
    )
    expect(page.status).toBe(200)
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
      const [answer] = await sendRaw(server, create(fields, ''), '')
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
    const [session] = await server
      .weir()
      .json<{ id: string; run_count: number }[]>(`/api/v1/sessions?name=${session_name}`)
    expect(session?.run_count).toBe(10_000)
    const query = { session: [session?.id], order: 'asc' }
    const page = await server
      .weir()
      .json<{ runs: { start_time: string }[] }>('/api/v1/runs/query', jsonBody('POST', query))
    // TraceRuns that started before 2015 are listed by the time of their receipt.
    expect(page.runs[0]?.start_time).toBe('2015-01-01T00:00:00.000Z')
    expect(page.runs).toHaveLength(100)
  })
})
