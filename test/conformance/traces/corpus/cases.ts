import { readdirSync, readFileSync } from 'node:fs'
import { beforeAll, describe, expect, it } from 'vitest'
import { type RecordedRequest, recordedRequests } from '../../../support/traces/corpus-requests.ts'
import { drained } from '../../../support/servers/server.ts'
import { type UsedWeir, useWeir } from '../../../support/servers/use-weir.ts'
import { caseFaults, type ExpectedFacts, type ReadTrace, type ReadTraceRun } from './facts.ts'

const CORPUS = new URL('../../../corpus/', import.meta.url)
const INGEST = /^\/(runs(\/multipart|\/batch|\/[0-9a-f-]{32,36})?|feedback)$/
interface CorpusCase {
  name: string
  requests: RecordedRequest[]
  /** Ids as sent. `trace_id` is missing where the client did not send it. */
  runs: { id: string; trace_id?: string }[]
  expected: ExpectedFacts[]
}

function readJson(path: string): unknown {
  return JSON.parse(readFileSync(new URL(path, CORPUS), 'utf8'))
}

function readRequests(folder: string): RecordedRequest[] {
  return recordedRequests(folder).filter(({ path }) => INGEST.test(path))
}

function readCases(): CorpusCase[] {
  const native = readdirSync(CORPUS).filter((name) => !/otel|otlp/.test(name))
  return native.flatMap((name): CorpusCase[] => {
    const { expect: expected } = readJson(`${name}/expected.json`) as { expect: ExpectedFacts[] | string }
    if (typeof expected === 'string') return []
    const { runs } = readJson(`${name}/decoded.json`) as Pick<CorpusCase, 'runs'>
    return [{ name, requests: readRequests(name), runs, expected }]
  })
}

/** Sends the requests one after the other; returns the path and the status of each. */
async function replay(weir: UsedWeir, requests: readonly RecordedRequest[]): Promise<[string, number][]> {
  const answers: [string, number][] = []
  for (const { method, path, headers, body } of requests) {
    const response = await weir.request(path, { method, headers, body })
    await response.arrayBuffer()
    answers.push([path, response.status])
  }
  return answers
}

async function readTraces(weir: UsedWeir, { runs }: CorpusCase): Promise<ReadTrace[]> {
  const ids = new Set<string>()
  for (const run of runs) {
    const { trace_id } =
      run.trace_id === undefined ? await weir.json<ReadTraceRun>(`/api/v1/runs/${run.id}`) : run
    if (trace_id !== undefined) ids.add(trace_id)
  }
  return await Promise.all([...ids].map((id) => weir.json<ReadTrace>(`/api/v1/traces/${id}`)))
}

/** The traces of each case by its name. */
type Reading = ReadonlyMap<string, ReadTrace[]>

async function readAll(weir: UsedWeir, some: readonly CorpusCase[]): Promise<Reading> {
  const reading = new Map<string, ReadTrace[]>()
  for (const corpusCase of some) reading.set(corpusCase.name, await readTraces(weir, corpusCase))
  return reading
}

/** A reading without the fields that depend on the server or on the time of sending. */
function lasting(reading: Reading): unknown {
  const text = JSON.stringify([...reading], (key, value: unknown) =>
    key === 'received_at' || key === 'session_id' ? undefined : value,
  )
  return JSON.parse(text)
}

const cases = readCases()
/** The number of cases; fails if the corpus is not found. */
const CASES = 41
const requestsOf = (some: readonly CorpusCase[]) => some.flatMap(({ requests }) => requests)
const readingOf = (reading: Reading, some: readonly CorpusCase[]): Reading =>
  new Map(some.map(({ name }) => [name, reading.get(name) ?? []]))
/** What was read after the requests were sent in order, and in reverse order. */
const read: { inOrder: Reading; reversed: Reading } = { inOrder: new Map(), reversed: new Map() }

function expectAccepted(answers: readonly [string, number][]): void {
  expect(cases.length).toBe(CASES)
  for (const [path, status] of answers)
    expect([path, status]).toEqual([path, path === '/feedback' ? 200 : 202])
}

function itHoldsEveryFact(
  order: keyof typeof read,
  some: readonly CorpusCase[],
  current: () => UsedWeir,
): void {
  it.each(some.map((corpusCase) => [corpusCase.name, corpusCase] as const))('%s', async (_, corpusCase) => {
    const traces = read[order].get(corpusCase.name) ?? []
    expect(caseFaults(corpusCase.expected, traces)).toEqual([])
    for (const { name, feedback } of corpusCase.expected) {
      if (feedback === undefined) continue
      const run = traces.flatMap(({ runs }) => runs).find((traceRun) => traceRun.name === name)?.id
      const found = await current().json<{ key: string; score: number }[]>(`/api/v1/feedback?run=${run}`)
      expect(found).toMatchObject([feedback])
    }
  })
}

/** Another value of the same form that no TraceRun of the corpus has. */
function falsified(name: string, value: unknown): unknown {
  if (name === 'ttft') return value === null ? [1, 2] : null
  if (name === 'src') return value === 'estimate' ? 'client' : 'estimate'
  if (typeof value === 'number') return value + 1
  if (typeof value === 'string') return `${value}?`
  if (Array.isArray(value)) return value.map((item) => falsified(name, item))
  return Object.fromEntries(Object.entries(value as object).map(([key, item]) => [key, falsified(key, item)]))
}

type Extent = 'every case' | 'every twelfth case'

/** Registers the tests of the corpus of native requests. */
export function corpusTests(extent: Extent): void {
  const sent = cases.filter((_, i) => extent === 'every case' || i % 12 === 0)

  describe('requests of real clients, as they were sent', () => {
    const { current } = useWeir()
    beforeAll(async () => {
      expectAccepted(await replay(current(), requestsOf(sent)))
      await drained(current())
      read.inOrder = await readAll(current(), sent)
    })

    itHoldsEveryFact('inOrder', sent, current)

    it('fail the comparison for every changed fact', () => {
      for (const corpusCase of sent) {
        const traces = read.inOrder.get(corpusCase.name) ?? []
        for (const facts of corpusCase.expected) {
          const claimed = Object.keys(facts).filter((name) => name !== 'note' && name !== 'feedback')
          for (const name of claimed as (keyof ExpectedFacts)[]) {
            if (facts[name] === null && name !== 'ttft') continue
            const wrong = { ...facts, [name]: falsified(name, facts[name]) }
            expect([corpusCase.name, name, caseFaults([wrong], traces)]).not.toEqual([
              corpusCase.name,
              name,
              [],
            ])
          }
        }
      }
    })

    it('change nothing that is read when they are sent again', async () => {
      const projects = await current().json<unknown>('/api/v1/sessions')
      expectAccepted(await replay(current(), requestsOf(sent)))
      await drained(current())
      expect(lasting(await readAll(current(), sent))).toEqual(lasting(read.inOrder))
      expect(await current().json<unknown>('/api/v1/sessions')).toEqual(projects)
    })
  })

  describe('INGEST-10, D-11: requests of real clients in reverse order', () => {
    const { current } = useWeir()
    beforeAll(async () => {
      expectAccepted(await replay(current(), requestsOf(sent).toReversed()))
      await drained(current())
      read.reversed = await readAll(current(), sent)
    })

    itHoldsEveryFact('reversed', sent, current)

    it('make the same traces', () => {
      expect(lasting(read.reversed)).toEqual(lasting(readingOf(read.inOrder, sent)))
    })
  })
}
