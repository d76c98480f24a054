import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { dashed } from '../../../src/base/ids.ts'
import { eventually } from '../../support/eventually.ts'
import { drained } from '../../support/servers/server.ts'
import { type UsedWeir, useWeir } from '../../support/servers/use-weir.ts'
import { caseFaults, type ExpectedFacts, type ReadTrace } from '../traces/corpus/facts.ts'

const CORPUS = new URL('../../corpus/', import.meta.url)
/** Headers of a recorded export that are sent again. The others belong to the recorded connection or caller. */
const KEPT = ['content-type', 'content-encoding', 'langsmith-project', 'user-agent']

interface OtlpCase {
  name: string
  requests: { path: string; headers: Record<string, string>; body: Uint8Array<ArrayBuffer> }[]
  traces: string[]
  /** Facts about TraceRuns, or a text that lists the statuses of the responses. */
  expected: ExpectedFacts[] | string
}

function readJson(path: string): unknown {
  return JSON.parse(readFileSync(new URL(path, CORPUS), 'utf8'))
}

function readCase(name: string): OtlpCase {
  const files = readdirSync(new URL(`${name}/`, CORPUS)).filter((file) => file.endsWith('.headers.json'))
  const requests = files.sort().flatMap((file) => {
    const { url, headers } = readJson(`${name}/${file}`) as { url: string; headers: Record<string, string> }
    if (!url.endsWith('/v1/traces')) return []
    const kept = KEPT.flatMap((key): [string, string][] =>
      headers[key] === undefined ? [] : [[key, headers[key]]],
    )
    const body = readFileSync(new URL(`${name}/${file.replace('.headers.json', '.body')}`, CORPUS))
    return [{ path: url, headers: Object.fromEntries(kept), body: new Uint8Array(body) }]
  })
  const { spans = [] } = readJson(`${name}/decoded.json`) as { spans?: { traceId: string }[] }
  const { expect: expected } = readJson(`${name}/expected.json`) as {
    expect: (ExpectedFacts & { trace_id?: string })[] | string
  }
  const named = typeof expected === 'string' ? [] : expected.flatMap(({ trace_id }) => trace_id ?? [])
  const sent = spans.map(({ traceId }) => dashed(traceId.toLowerCase()))
  return { name, requests, traces: [...new Set([...sent, ...named])], expected }
}

/** Some cases have the same trace id. The case that counts the spans of the trace must come first. */
const FIRST = 'otlp-orphan-and-order'

const cases = [FIRST, ...readdirSync(CORPUS).sort()]
  .filter((name, i) => /otel|otlp/.test(name) && (i === 0 || name !== FIRST))
  .map(readCase)

async function send(weir: UsedWeir, { requests }: OtlpCase): Promise<number[]> {
  const statuses: number[] = []
  for (const { path, headers, body } of requests) {
    const response = await weir.request(path, { method: 'POST', headers, body })
    await response.arrayBuffer()
    statuses.push(response.status)
  }
  return statuses
}

async function faultsOf(weir: UsedWeir, { traces, expected }: OtlpCase): Promise<string[]> {
  const read: ReadTrace[] = []
  for (const id of traces) {
    const response = await weir.request(`/api/v1/traces/${id}`)
    if (response.status === 200) read.push((await response.json()) as ReadTrace)
  }
  return typeof expected === 'string' ? [] : caseFaults(expected, read)
}

type Extent = 'every case' | 'some cases'

/** Registers the tests of the recorded exports. */
export function otlpCorpusTests(extent: Extent): void {
  const every = (step: number) => cases.filter((_, i) => extent === 'every case' || i % step === 0)
  // Cases have trace and span ids in common. Each case is read before the next one is sent, and the second pass uses
  // another organization.
  describe.each([
    ['as they were sent', false, every(5)],
    ['each sent twice', true, every(cases.length)],
  ] as const)('OTLP-10: recorded exports, %s', (_, again, some) => {
    const { current } = useWeir()

    it('contain more than 50 runs', () => {
      expect(cases.length).toBe(13)
      expect(
        cases.flatMap(({ expected }) => (typeof expected === 'string' ? [] : expected)).length,
      ).toBeGreaterThan(50)
    })

    it.each(some)('$name', async (otlpCase) => {
      const statuses = await send(current(), otlpCase)
      if (again) await send(current(), otlpCase)
      const { expected } = otlpCase
      const named =
        typeof expected === 'string' ? (expected.match(/\b[245]\d\d\b/g) ?? []).map(Number) : undefined
      expect(statuses).toEqual(named ?? statuses.map(() => 200))
      await drained(current())
      await eventually(async () => expect(await faultsOf(current(), otlpCase)).toEqual([]))
    })
  })

  describe('POST /runs/validate', () => {
    const { current } = useWeir()

    it.each(every(5).filter(({ expected }) => typeof expected !== 'string'))(
      'reports what the spans of $name map to',
      async ({ requests, expected }) => {
        const found: { run_type: string; valid: boolean }[] = []
        for (const { headers, body } of requests) {
          const response = await current().request('/api/v1/runs/validate', { method: 'POST', headers, body })
          expect(response.status).toBe(200)
          found.push(...((await response.json()) as { runs: typeof found }).runs)
        }
        const types = (runs: { run_type?: string }[]) => new Set(runs.map(({ run_type }) => run_type))
        expect([...types(found)]).toEqual(expect.arrayContaining([...types(expected as ExpectedFacts[])]))
      },
    )

    it('answers 400 for a body that is not an export', async () => {
      const headers = { 'content-type': 'application/x-protobuf' }
      const response = await current().request('/api/v1/runs/validate', {
        method: 'POST',
        headers,
        body: 'hello',
      })
      expect([response.status, await response.json()]).toMatchObject([400, { code: 'invalid_otlp' }])
    })
  })
}
