import { randomUUID } from 'node:crypto'
import { dottedSegment } from '../../../src/trace/derive/lineage/dotted-order.ts'
import { between, chance, pick, type Random, seededRandom } from '../seeded-random.ts'
import { drained } from './server.ts'
import type { UsedWeir } from './use-weir.ts'
import { jsonBody } from './weir-process.ts'

/** Name of the project that `sendSamples` fills. */
export const SAMPLE_PROJECT = 'travel-agent'

const HOUR_MS = 3_600_000
const DAYS = 7
const MODELS = [
  ['openai', 'gpt-4.1-mini', 0.9],
  ['anthropic', 'claude-sonnet-4-5', 1.9],
  ['openai', 'gpt-4.1', 1.4],
] as const
const CITIES = ['Lisbon', 'Kyoto', 'Oslo', 'Nairobi', 'Lima', 'Hanoi'] as const
const TAGS = ['prod', 'prod', 'prod', 'canary'] as const

interface SentRun {
  id: string
  trace_id: string
  [key: string]: unknown
}

/** What `sendSamples` made: ids of a successful trace and of its first model call, and the thread of both. */
export interface Samples {
  trace: string
  call: string
  thread: string
}

const iso = (millis: number): string => new Date(Math.round(millis)).toISOString()

/** The runs of one trace: an agent with two model calls, a search and a tool call, in the order of their starts. */
function sampleTrace(random: Random, start: number, thread: string, isFailed: boolean): SentRun[] {
  const [provider, model, slowness] = pick(random, MODELS)
  const city = pick(random, CITIES)
  const common = {
    session_name: SAMPLE_PROJECT,
    tags: [pick(random, TAGS)],
    extra: {
      metadata: { thread_id: thread, env: pick(random, TAGS), ls_provider: provider, ls_model_name: model },
    },
  }
  const root = randomUUID()
  const rootOrder = dottedSegment(start * 1000, root)
  let at = start
  const child = (name: string, run_type: string, millis: number, rest: object): SentRun => {
    const id = randomUUID()
    const [from, to] = [at + 4, at + 4 + Math.round(millis)]
    at = to
    return {
      ...common,
      ...rest,
      id,
      trace_id: root,
      parent_run_id: root,
      name,
      run_type,
      dotted_order: `${rootOrder}.${dottedSegment(from * 1000, id)}`,
      start_time: iso(from),
      end_time: iso(to),
    }
  }
  const question = `What is the weather like in ${city} this week, and what should I pack?`
  const asked = [
    { role: 'system', content: 'You are a concise travel assistant. Use the tools.' },
    { role: 'user', content: question },
  ]
  const tool_calls = [
    {
      id: 'call_1',
      type: 'function',
      function: { name: 'get_weather', arguments: JSON.stringify({ city, days: 7 }) },
    },
  ]
  const weather = { city, high_c: between(random, 12, 31), low_c: between(random, 2, 11), rain_days: 2 }
  const call = (name: string, inputs: object[], message: object, completion: number): SentRun => {
    const millis = between(random, 500, 1600) * slowness
    const first = at + 4 + millis * (0.2 + random() * 0.3)
    const prompt_tokens = between(random, 300, 1400)
    const usage = { prompt_tokens, completion_tokens: completion, total_tokens: prompt_tokens + completion }
    return child(name, 'llm', millis, {
      inputs: { messages: inputs },
      outputs: { choices: [{ message }], usage },
      events: [{ name: 'new_token', time: iso(first) }],
    })
  }
  const called = { role: 'assistant', content: null, tool_calls }
  const result = { role: 'tool', tool_call_id: 'call_1', content: JSON.stringify(weather) }
  const answer = `**${city}** will be mild, with highs of ${weather.high_c} °C and two days of rain.\n\n- a light jacket\n- shoes that may get wet\n- one warm layer for the evening`
  const runs = [
    child('search_guides', 'retriever', between(random, 40, 180), {
      inputs: { query: city },
      outputs: { documents: [{ page_content: `${city} in a week`, metadata: { source: 'guides' } }] },
    }),
    call('plan', asked, called, between(random, 20, 60)),
    child('get_weather', 'tool', between(random, 120, 700), {
      inputs: { city, days: 7 },
      ...(isFailed
        ? { error: 'TimeoutError: the weather service did not answer within 5 s' }
        : { outputs: weather }),
    }),
    ...(isFailed
      ? []
      : [
          call(
            'answer',
            [...asked, called, result],
            { role: 'assistant', content: answer },
            between(random, 80, 260),
          ),
        ]),
  ]
  return [
    {
      ...common,
      id: root,
      trace_id: root,
      name: 'travel_agent',
      run_type: 'chain',
      dotted_order: rootOrder,
      start_time: iso(start),
      end_time: iso(at + 6),
      inputs: { question },
      ...(isFailed ? { error: 'TimeoutError: get_weather failed' } : { outputs: { answer } }),
    },
    ...runs,
  ]
}

const BATCH = 200

/**
 * Sends the traces of one week to a project: many by day, few by night, about one in twenty failed. `now` is the time
 * of the newest trace, in epoch milliseconds. Resolves when all of them can be read.
 */
export async function sendSamples(weir: UsedWeir, now: number, traces = 240): Promise<Samples> {
  const random = seededRandom(7)
  const sent: SentRun[] = []
  let samples: Samples | undefined
  for (let trace = 0; trace < traces; trace += 1) {
    const age = (trace / traces) * DAYS * 24 * HOUR_MS
    const hour = new Date(now - age).getUTCHours()
    if (trace > 3 && (hour < 6 || hour > 21) && chance(random, 0.7)) continue
    const thread = `trip-${Math.floor(trace / 3)}`
    const runs = sampleTrace(
      random,
      Math.floor(now - age - 20_000 - random() * HOUR_MS),
      thread,
      trace > 0 && chance(random, 0.06),
    )
    if (samples === undefined) samples = { trace: runs[0]?.id ?? '', call: runs.at(-1)?.id ?? '', thread }
    sent.push(...runs)
  }
  for (let from = 0; from < sent.length; from += BATCH) {
    const answer = await weir.request(
      '/api/v1/runs/batch',
      jsonBody('POST', { post: sent.slice(from, from + BATCH) }),
    )
    if (!answer.ok) throw new Error(`samples were refused: ${await answer.text()}`)
  }
  await drained(weir)
  if (samples === undefined) throw new Error('no sample was sent')
  return samples
}
