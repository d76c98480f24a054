import { readFileSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type AppFixture, startApp, WORKSPACE } from '../../../../test/support/servers/app-fixture.ts'
import type { FoundPrice } from '../../../ingest/lane-tasks.ts'
import type { RepriceJob } from '../../../ingest/prices/reprice-jobs.ts'
import { createRegistry } from '../../../schema/registry.ts'
import type { PriceQuery } from '../../../trace/price/price.ts'
import { describePriceData } from '../../../trace/price/default/default-prices.ts'

const ID = '018f0000-0000-7000-8000-000000000001'
const PRICE = {
  name: 'mine',
  match_pattern: '^my-model',
  prompt_cost: 0.000002,
  completion_cost: '3e-6',
  prompt_cost_details: { cache_read: 1e-7 },
}

let fixture: AppFixture
let asked: { workspace_id: string; query: PriceQuery }[]
let jobs: RepriceJob[]
beforeEach(async () => {
  asked = []
  jobs = []
  const price: FoundPrice['price'] = {
    price_model_id: 'genai-prices:openai/gpt-4o',
    input: { base: 2_500_000_000_000n, details: { cache_read: 1n } },
    output: { base: undefined, details: {} },
    units: {},
    request: 0n,
    conditions: [],
  }
  fixture = await startApp({
    findPrice: async (workspace_id, query) => {
      asked.push({ workspace_id, query })
      const known = query.model === 'gpt-4o'
      return {
        price: known ? price : undefined,
        default_prices: { package: 'p', version: '1', newest_price: '2026-09-01' },
      }
    },
    repricer: {
      async submit(workspace_id, scope) {
        const job: RepriceJob = {
          ...scope,
          workspace_id,
          id: ID,
          status: 'queued',
          position: null,
          progress: 0,
          examined: 0,
          changed: 0,
          error: null,
          created_at: 0,
          finished_at: null,
        }
        jobs.push(job)
        return job
      },
      get: async (workspace_id, id) => jobs.find((job) => job.workspace_id === workspace_id && job.id === id),
      stop: async () => undefined,
    },
  })
})
afterEach(() => fixture.stop())

const json = async (answer: Response): Promise<unknown> => await answer.json()

describe('own prices over HTTP', () => {
  it('adds, lists, replaces and removes one in the shape of LangSmith', async () => {
    const made = await fixture.postJson('/api/v1/model-price-map', PRICE)
    expect(made.status).toBe(200)
    const price = (await json(made)) as { id: string }
    expect(createRegistry().check('model-price', price)).toMatchObject({ ok: true })
    expect(price).toMatchObject({
      tenant_id: WORKSPACE,
      name: 'mine',
      match_path: ['model', 'model_name', 'model_id', 'model_path', 'endpoint_name'],
      provider: null,
      start_time: null,
      prompt_token_threshold: null,
      conditions: {},
      prompt_cost: '0.000002',
      completion_cost: '0.000003',
      prompt_cost_details: { cache_read: '0.0000001' },
      completion_cost_details: {},
    })
    const list = await fixture.request('/model-price-map')
    expect(list.headers.get('x-pagination-total')).toBe('1')
    expect(await json(list)).toEqual([price])
    const changed = await fixture.postJson(
      `/model-price-map/${price.id}`,
      { ...PRICE, start_time: '2026-01-01T00:00:00Z', prompt_cost_details: null, provider: 'openai' },
      'PUT',
    )
    expect(await json(changed)).toMatchObject({
      id: price.id,
      provider: 'openai',
      start_time: '2026-01-01T00:00:00.000Z',
      prompt_cost_details: {},
    })
    const remove = () => fixture.request(`/model-price-map/${price.id}`, { method: 'DELETE' })
    expect((await remove()).status).toBe(200)
    expect((await remove()).status).toBe(404)
    expect((await fixture.postJson(`/model-price-map/${price.id}`, PRICE, 'PUT')).status).toBe(404)
    expect(await json(await fixture.request('/model-price-map'))).toEqual([])
  })

  it('answers 409 to an entry with the same conditions as another', async () => {
    await fixture.postJson('/model-price-map', PRICE)
    expect((await fixture.postJson('/model-price-map', { ...PRICE, prompt_cost: 1 })).status).toBe(409)
    const later = await fixture.postJson('/model-price-map', { ...PRICE, start_time: '2026-01-01' })
    expect(later.status).toBe(200)
    const { id } = (await json(later)) as { id: string }
    expect((await fixture.postJson(`/model-price-map/${id}`, PRICE, 'PUT')).status).toBe(409)
  })

  it.each([
    ['match_pattern', { match_pattern: '(a' }],
    ['match_pattern', { match_pattern: '(?=a)b' }],
    ['match_pattern', { match_pattern: 'a'.repeat(600) }],
    ['prompt_cost', { prompt_cost: -1 }],
    ['prompt_cost', { prompt_cost: 'cheap' }],
    ['completion_cost', { completion_cost: undefined }],
    ['start_time', { start_time: 'soon' }],
    ['prompt_cost_details', { prompt_cost_details: { x: 'y' } }],
    ['prompt_cost_details', { prompt_cost_details: { '\0': 'y' } }],
  ])('answers 422 and names %s', async (field, fields) => {
    const answer = await fixture.postJson('/model-price-map', { ...PRICE, ...fields })
    expect(answer.status).toBe(422)
    const { detail } = (await json(answer)) as { detail: { loc: string[] }[] }
    expect(detail[0]!.loc[1]).toBe(field)
  })

  it('previews no change of a price that is none (N18)', async () => {
    const range = { start_time: '2026-01-01', end_time: '2026-01-02' }
    const preview = (change: object) => fixture.postJson('/model-price-map/preview', { ...range, ...change })
    const bad = await preview({ price: { ...PRICE, match_pattern: '(a' } })
    expect(bad.status).toBe(422)
    expect(await json(bad)).toMatchObject({ detail: [{ loc: ['body', 'price', 'match_pattern'] }] })
    expect((await preview({ replaces: 'x' })).status).toBe(422)
    expect((await preview({ end_time: '2025-01-01' })).status).toBe(422)
  })

  it('returns the price that a run would be costed with', async () => {
    const path = '/model-price-map/lookup?model=gpt-4o&provider=OpenAI.chat&prompt_tokens=9&at=2026-01-01'
    expect(await json(await fixture.request(path))).toEqual({
      price: {
        price_model_id: 'genai-prices:openai/gpt-4o',
        source: 'default',
        prompt_cost: '0.0000025',
        completion_cost: null,
        prompt_cost_details: { cache_read: '0.000000000000000001' },
        completion_cost_details: {},
        request_cost: '0',
      },
      default_prices: { package: 'p', version: '1', newest_price: '2026-09-01' },
    })
    expect(asked).toEqual([
      {
        workspace_id: WORKSPACE,
        query: { model: 'gpt-4o', provider: 'openai', at: Date.UTC(2026, 0, 1) * 1000, input_tokens: 9 },
      },
    ])
    expect(await json(await fixture.request('/model-price-map/lookup?model=x'))).toMatchObject({
      price: null,
    })
    expect((await fixture.request('/model-price-map/lookup')).status).toBe(422)
    expect((await fixture.request('/model-price-map/lookup?model=x&at=y')).status).toBe(422)
  })

  it('returns the version of the price data in its file', () => {
    const { package: name, version, newest_price } = describePriceData(Date.UTC(2026, 10, 20))
    const { sources } = JSON.parse(readFileSync('src/trace/price/default/prices.json', 'utf8')) as {
      sources: { package: string; version: string; licence: string }[]
    }
    expect(sources[0]).toMatchObject({ package: name, version, licence: 'MIT' })
    expect(newest_price).toMatch(/^2026-\d\d-\d\d$/)
  })
})

describe('reprice over HTTP', () => {
  it('queues a job and returns its progress', async () => {
    const session = '018F0000-0000-7000-8000-000000000002'
    const made = await fixture.postJson('/api/v1/runs/reprice', {
      start_time: '2026-11-01',
      end_time: '2026-11-02T00:00:00+01:00',
      session,
    })
    expect(made.status).toBe(202)
    const job = await json(made)
    expect(createRegistry().check('reprice-job', job)).toMatchObject({ ok: true })
    expect(job).toMatchObject({
      job_id: ID,
      status: 'queued',
      start_time: '2026-11-01T00:00:00.000Z',
      end_time: '2026-11-01T23:00:00.000Z',
      session: [session.toLowerCase()],
    })
    expect(await json(await fixture.request(`/runs/reprice/${ID}`))).toEqual(job)
    expect((await fixture.request(`/runs/reprice/${WORKSPACE}`)).status).toBe(404)
  })

  it.each([
    [{ start_time: '2026-11-01' }],
    [{ start_time: '2026-11-01', end_time: 'x' }],
    [{ start_time: '2026-11-02', end_time: '2026-11-01' }],
    [{ start_time: '2026-11-01', end_time: '2026-11-02', session: 'mine' }],
  ])('answers 422 to %j', async (body) => {
    expect((await fixture.postJson('/runs/reprice', body)).status).toBe(422)
  })
})
