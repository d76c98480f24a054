import { describe, expect, it } from 'vitest'
import { newUuid } from '../../../src/base/ids.ts'
import { formatDecimal, parseDecimal } from '../../../src/trace/price/decimal.ts'
import { eventually } from '../../support/eventually.ts'
import { useClientSetup } from '../langsmith/js/client-setup.ts'
import { inLong } from '../../support/length.ts'

const setup = useClientSetup()

/** Requests go through the proxy, so that every answer is compared with the OpenAPI document. */
async function ask<T>(
  path: string,
  body?: unknown,
  method = body === undefined ? 'GET' : 'POST',
): Promise<T> {
  const json = body === undefined ? {} : { body: JSON.stringify(body) }
  const headers = { 'content-type': 'application/json' }
  const answer = await setup().weir.request(`${setup().proxy.url}/api/v1${path}`, {
    method,
    headers,
    ...json,
  })
  expect(answer.status, path).toBeLessThan(300)
  return (await answer.json()) as T
}

interface Read {
  prompt_cost: string | null
  completion_cost: string | null
  total_cost: string | null
  price_model_id: string | null
  prompt_cost_details: Record<string, string> | null
  completion_cost_details: Record<string, string> | null
}

const START = '2026-11-20T09:00:00.000Z'
const RANGE = { start_time: '2026-11-20', end_time: '2026-11-21' }

async function log(
  model: string,
  usage_metadata: object,
  start_time = START,
  more: object = {},
): Promise<string> {
  const id = newUuid()
  await ask('/runs', {
    id,
    name: 'call',
    run_type: 'llm',
    start_time,
    end_time: Date.parse(start_time) + 100,
    inputs: { messages: [{ role: 'user', content: 'hi' }] },
    outputs: { role: 'assistant', content: 'ho', usage_metadata },
    extra: { metadata: { ls_provider: 'openai', ls_model_name: model } },
    ...more,
  })
  return id
}

const costs = async (id: string): Promise<(string | null)[]> => {
  const run = await ask<Read>(`/runs/${id}`)
  return [run.prompt_cost, run.completion_cost, run.total_cost, run.price_model_id]
}

async function issues(id: string): Promise<string[]> {
  const run = await ask<{ issues: { code: string }[] }>(`/runs/${id}`)
  return run.issues.map(({ code }) => code)
}

/**
 * The costs of a TraceRun when it is read by id. Waits until the list has the TraceRun; its costs there must be the
 * same.
 */
const parts = (id: string): Promise<unknown[]> =>
  eventually(async () => {
    const { runs } = await ask<{ runs: Read[] }>('/runs/query', { id: [id], limit: 1 })
    const whole = await ask<Read>(`/runs/${id}`)
    const both = [whole, runs[0]].map((run) => [run?.prompt_cost_details, run?.completion_cost_details])
    expect(both[1]).toEqual(both[0])
    return both[0]!
  })

async function reprice(range = RANGE): Promise<{ examined: number; changed: number }> {
  const { job_id } = await ask<{ job_id: string }>('/runs/reprice', range)
  return await eventually(async () => {
    const job = await ask<{ status: string; examined: number; changed: number }>(`/runs/reprice/${job_id}`)
    expect(job.status).toBe('done')
    return job
  })
}

describe('costs', () => {
  it('U8: of each unit and of the call stand beside the sides, also after repricing', async () => {
    const usage = { input_tokens: 1000, output_tokens: 100, units: { web_searches: 3, images: 2 } }
    const id = await log('unit-model', usage)
    // A price that comes before the run was derived would be its price.
    await parts(id)
    await ask('/model-price-map', {
      name: 'units',
      match_pattern: '^unit-model$',
      prompt_cost: '0.000001',
      completion_cost: '0.000002',
      prompt_cost_details: { web_searches: '0.01', requests: '0.005' },
    })
    const priced = await log('unit-model', usage)
    const expected = { unit_costs: { web_searches: '0.03', requests: '0.005' }, total_cost: '0.0362' }
    await eventually(async () => expect(await ask(`/runs/${priced}`)).toMatchObject(expected))
    expect(await ask(`/runs/${id}`)).toMatchObject({ unit_costs: {}, total_cost: null })
    await reprice()
    expect(await ask(`/runs/${id}`)).toMatchObject(expected)
  })

  inLong(() => {
    it('come from the default prices, then from own ones, and change afterwards by repricing only', async () => {
      const usage = { input_tokens: 1000, output_tokens: 100, input_token_details: { cache_read: 500 } }
      const first = await log('gpt-4.1-mini', usage)
      const byDefault = ['0.00025', '0.00016', '0.00041', 'genai-prices:openai/gpt-4.1-mini']
      await eventually(async () => expect(await costs(first)).toEqual(byDefault))
      expect(await parts(first)).toEqual([{ cache_read: '0.00005', base: '0.0002' }, { base: '0.00016' }])
      const unknown = await log('my-model', usage)
      const sent = await log('gpt-4.1-mini', { ...usage, input_cost: 1.1e-6, output_cost: 5e-6 })
      const bySender = ['0.0000011', '0.000005', '0.0000061', null]
      await eventually(async () => expect(await costs(sent)).toEqual(bySender))
      expect(await costs(unknown)).toEqual([null, null, null, null])
      expect(await parts(unknown)).toEqual([null, null])
      expect(await issues(unknown)).toEqual(['no_price'])
      expect(await issues(first)).toEqual([])
      // Only the total of a cost was sent here, so the costs of its parts are unknown.
      expect(await parts(sent)).toEqual([null, null])

      const entry = { name: 'mine', prompt_cost: '0.000001', completion_cost: '0.000002' }
      const { id } = await ask<{ id: string }>('/model-price-map', {
        ...entry,
        match_pattern: '^(gpt-4\\.1-mini|my-model)$',
        start_time: '2026-11-01T00:00:00Z',
      })
      const second = await log('gpt-4.1-mini', usage)
      const byOwn = ['0.001', '0.0002', '0.0012', id]
      await eventually(async () => expect(await costs(second)).toEqual(byOwn))
      const early = await log('gpt-4.1-mini', usage, '2026-10-01T00:00:00.000Z')
      await eventually(async () => expect(await costs(early)).toEqual(byDefault))
      expect(await costs(first)).toEqual(byDefault)
      expect(await ask('/model-price-map/lookup?model=my-model')).toMatchObject({
        price: { price_model_id: id, source: 'own' },
        default_prices: { package: 'genai-prices' },
      })

      expect(await reprice()).toMatchObject({ changed: 2 })
      expect(await costs(first)).toEqual(byOwn)
      expect(await parts(first)).toEqual([{ base: '0.001' }, { base: '0.0002' }])
      expect(await costs(unknown)).toEqual(byOwn)
      expect(await issues(unknown)).toEqual([])
      expect(await costs(sent)).toEqual(bySender)
      expect(await reprice()).toMatchObject({ changed: 0 })
      const trace = await ask<{ totals: Read }>(`/traces/${first}`)
      expect(trace.totals.total_cost).toBe('0.0012')

      await ask(`/model-price-map/${id}`, undefined, 'DELETE')
      expect(await reprice()).toMatchObject({ changed: 3 })
      expect(await costs(second)).toEqual(byDefault)
      expect(await costs(unknown)).toEqual([null, null, null, null])
      expect(await issues(unknown)).toEqual(['no_price'])
    })

    it('are previewed before a price is added, replaced or removed (N18)', async () => {
      const day = { start_time: '2026-09-05', end_time: '2026-09-06' }
      const usage = { input_tokens: 1000, output_tokens: 100 }
      const model = `previewed-${newUuid()}`
      const ids = [await log(model, usage, '2026-09-05T09:00:00.000Z')]
      ids.push(await log(model, usage, '2026-09-05T10:00:00.000Z'))
      const price = {
        name: 'previewed',
        match_pattern: `^${model}$`,
        prompt_cost: '0.000001',
        completion_cost: '0.000002',
      }
      const preview = (change: object) => ask('/model-price-map/preview', { ...day, ...change })
      const added = { examined: 2, changed: 2, cost_before: '0', cost_after: '0.0024', examined_from: null }
      await eventually(async () =>
        expect(await preview({ price })).toEqual({ ...added, unpriced_before: 2, unpriced_after: 0 }),
      )
      for (const id of ids) expect((await costs(id))[2]).toBeNull()
      const { id: replaces } = await ask<{ id: string }>('/model-price-map', price)
      expect(await preview({})).toMatchObject(added)
      expect(await reprice(day)).toMatchObject({ changed: 2 })
      expect(await preview({})).toMatchObject({ examined: 2, changed: 0, cost_before: '0', cost_after: '0' })
      const dearer = { ...price, completion_cost: '0.000012' }
      expect(await preview({ replaces, price: dearer })).toMatchObject({
        ...added,
        cost_before: '0.0024',
        cost_after: '0.0044',
      })
      expect(await preview({ replaces })).toMatchObject({
        cost_after: '0',
        unpriced_before: 0,
        unpriced_after: 2,
      })
      expect(await preview({ replaces, end_time: '2026-09-05T09:30:00Z' })).toMatchObject({ examined: 1 })
    })
  })

  it('of a project are the exact sum of its runs', async () => {
    const session_name = 'sums'
    const counts = (input_tokens: number) => ({
      input_tokens,
      output_tokens: 7,
      total_tokens: input_tokens + 7,
    })
    await log('gpt-4.1-mini', counts(333), START, { session_name })
    await log('gpt-4.1-nano', { ...counts(1), input_cost: '0.000000000000000001', output_cost: 0.1 }, START, {
      session_name,
    })
    const parent = await log('gpt-4.1', counts(1000), START, { session_name })
    // A cost that a parent repeats counts once.
    await log('gpt-4.1', counts(1000), START, { session_name, parent_run_id: parent })
    await log('my-model', counts(5), START, { session_name })
    await ask('/runs', {
      id: newUuid(),
      name: 'search',
      run_type: 'tool',
      start_time: START,
      end_time: START,
      outputs: { usage_metadata: { total_cost: '0.005' } },
      session_name,
    })
    await eventually(async () => {
      const [project] = await ask<(Read & { id: string; run_count: number })[]>(
        `/sessions?name=${session_name}&include_stats=true`,
      )
      expect(project?.run_count).toBe(6)
      const { runs } = await ask<{ runs: (Read & { id: string })[] }>('/runs/query', {
        session: [project!.id],
        limit: 100,
      })
      const counted = runs.filter(({ id }) => id !== parent)
      for (const field of ['prompt_cost', 'completion_cost', 'total_cost'] as const)
        expect(project![field]).toBe(formatDecimal(sumOf(counted.map((run) => run[field]))))
      expect(await ask(`/sessions/${project!.id}?include_stats=true`)).toMatchObject({
        total_cost: project!.total_cost,
      })
    })
  })
})

const sumOf = (amounts: readonly (string | null)[]): bigint =>
  amounts.reduce((sum, amount) => sum + (amount === null ? 0n : parseDecimal(amount)!), 0n)
