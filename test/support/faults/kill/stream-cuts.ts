import { randomInt, randomUUID } from 'node:crypto'
import { Client } from '@langchain/langgraph-sdk'
import { eventually } from '../../eventually.ts'
import { framesOf, readFrames, type SseFrame } from '../../runs/streams/sse-frames.ts'
import { KEY } from '../../servers/weir-process.ts'
import { ask, base, type CutBench, type CutPlans, json, onCutBench, pick, whileKilled } from './cut-bench.ts'
import { startCuttingProxy } from '../proxies/cutting.ts'

export interface CutCampaign extends CutPlans {
  threads: number
  /** Number of runs on each thread, one after the other. */
  runs: number
  tokens: number
  /** Streams that the SDK reads, and the cuts of each stream. The SDK reconnects at most five times. */
  sdk: { streams: number; cuts: number }
}

/** Results; the campaign throws when an event was missed, duplicated or out of order. */
export interface CutReport {
  cuts: number
  sdkCuts: number
  kills: number
  events: number
}

const MODES = ['values', 'updates', 'messages-tuple'] as const
/** Maximum of bytes that pass before a stream of the SDK is cut: few, so that every connection is cut. */
const SDK_BYTES = 8_000
/**
 * Minimum of bytes that pass before such a cut: at least one event, because an SDK that received no event has no id
 * from which it could resume.
 */
const HEAD_BYTES = 1_000

interface Bench extends CutBench {
  campaign: CutCampaign
  sdkCuts: number
}

/** Streams runs and threads through a proxy that cuts streams, and compares the received events with the log. */
export function runCutCampaign(campaign: CutCampaign): Promise<CutReport> {
  return onCutBench(campaign, async (shared) => {
    const bench: Bench = Object.assign(shared, { campaign, sdkCuts: 0 })
    const events = await whileKilled(bench, async () => {
      const counts = await Promise.all([
        ...Array.from({ length: campaign.threads }, () => readThread(bench)),
        readBySdk(bench),
      ])
      return counts.reduce((sum, count) => sum + count, 0)
    })
    return { cuts: bench.proxy.cuts, sdkCuts: bench.sdkCuts, kills: bench.killed, events }
  })
}

/** Reads the stream of the thread and the stream of each of its runs; returns the number of events. */
async function readThread(bench: Bench): Promise<number> {
  const { thread_id } = await json<{ thread_id: string }>(bench, '/threads', {})
  const runIds = Array.from({ length: bench.campaign.runs }, () => randomUUID())
  const reading = readStreamOf(bench, thread_id, runIds.length)
  reading.catch(() => undefined)
  const streams: SseFrame[][] = []
  for (const run_id of runIds) streams.push(await readRun(bench, thread_id, run_id))
  const seen = await reading
  const replay = await replayOf(bench, thread_id, seen.length)
  expectSame('the thread', seen, replay)
  for (const [at, frames] of streams.entries()) {
    await expectWhole(bench, { thread_id, run_id: runIds[at] ?? '' }, frames, replay)
  }
  return seen.length
}

function threadPath(thread_id: string): string {
  return `/threads/${thread_id}/stream?stream_modes=run_modes,state_update`
}

/** Reads a thread's stream until `runs` runs have ended and the thread's state has arrived. */
async function readStreamOf(bench: Bench, thread_id: string, runs: number): Promise<SseFrame[]> {
  const frames: SseFrame[] = []
  const isWhole = (): boolean =>
    frames.at(-1)?.event === 'state_update' && frames.filter(isRunDone).length === runs
  while (!isWhole()) {
    const headers = { 'last-event-id': frames.at(-1)?.id ?? '-' }
    await drain(await ask(bench, threadPath(thread_id), { headers }, true), frames, isWhole)
  }
  return frames
}

/** Creates a run and reads it to its end, as clients do that resume by `Location`. */
async function readRun(bench: Bench, thread_id: string, run_id: string): Promise<SseFrame[]> {
  const { tokens } = bench.campaign
  const asked = { assistant_id: 'tokens', run_id, input: { tokens, tokenDelayMs: 1 }, stream_mode: MODES }
  const init = { method: 'POST', body: JSON.stringify(asked) }
  let answer = await ask(bench, `/threads/${thread_id}/runs/stream`, init, true)
  const location = answer.headers.get('location') ?? ''
  const frames: SseFrame[] = []
  for (let isOver = false; ; ) {
    const isComplete = await drain(answer, frames)
    const { status } = await json<{ status: string }>(bench, `/threads/${thread_id}/runs/${run_id}`)
    const headers = { 'last-event-id': frames.at(-1)?.id ?? '-' }
    if (isOver && isComplete) return frames
    isOver = status !== 'pending' && status !== 'running'
    // The rest of an ended run is read without the proxy: a response that the proxy ends early (`end`) would look
    // complete.
    answer = await ask(bench, location, { headers }, !isOver)
  }
}

/** Reads until the response ends, breaks, or `isWhole` is true. Resolves with false if it broke. */
async function drain(answer: Response, frames: SseFrame[], isWhole = () => false): Promise<boolean> {
  try {
    for await (const frame of readFrames(answer)) {
      frames.push(frame)
      if (isWhole()) return true
    }
    return true
  } catch (error) {
    // The error of fetch for a broken connection.
    if (!(error instanceof TypeError)) throw error
    return false
  }
}

/** Reads with the SDK within its limits, several streams at a time; returns the number of events. */
async function readBySdk(bench: Bench): Promise<number> {
  const { streams, cuts } = bench.campaign.sdk
  if (streams === 0) return 0
  const left = new Map<string, number>()
  const proxy = await startCuttingProxy(
    () => pick(bench).url,
    (path) => {
      const [, run_id] = /runs\/([^/]+)\/stream/.exec(path) ?? []
      const remaining = run_id === undefined ? cuts : (left.get(run_id) ?? cuts - 1)
      if (run_id !== undefined) left.set(run_id, remaining - 1)
      return remaining > 0
        ? { how: random(['cut', 'frame']), after: randomInt(HEAD_BYTES, SDK_BYTES) }
        : undefined
    },
  )
  const client = new Client({ apiUrl: base(proxy), apiKey: KEY })
  try {
    const counts = await Promise.all(Array.from({ length: streams }, () => streamBySdk(bench, client)))
    bench.sdkCuts += proxy.cuts
    return counts.reduce((sum, count) => sum + count, 0)
  } finally {
    await proxy.close()
  }
}

async function streamBySdk(bench: Bench, client: Client): Promise<number> {
  const { thread_id } = await client.threads.create()
  const { tokens } = bench.campaign
  const frames: SseFrame[] = []
  let run_id = ''
  const stream = client.runs.stream(thread_id, 'tokens', {
    input: { tokens, tokenDelayMs: 1 },
    streamMode: [...MODES],
    onRunCreated: (place) => void (run_id = place.run_id),
  })
  for await (const item of stream) {
    const { event, data, id } = item as SseFrame
    frames.push({ event, data, id })
  }
  await expectWhole(bench, { thread_id, run_id }, frames, await replayOf(bench, thread_id, frames.length + 1))
  return frames.length
}

function random<T>(some: readonly [T, ...T[]]): T {
  return some[randomInt(some.length)] ?? some[0]
}

/** All events of the log (at least `count`), read without the proxy in one response. */
async function replayOf(bench: Bench, thread_id: string, count: number): Promise<SseFrame[]> {
  // A server may be killed during the response; then the log is read again from the beginning.
  for (let turn = 0; turn <= bench.campaign.kills; turn++) {
    const frames: SseFrame[] = []
    const answer = await ask(bench, threadPath(thread_id), { headers: { 'last-event-id': '-' } })
    await drain(answer, frames, () => frames.length >= count)
    if (frames.length >= count) return frames
  }
  throw new Error(`the log of ${thread_id} does not hold ${count} events`)
}

function isRunDone({ data }: SseFrame): boolean {
  return (data as { status?: unknown }).status === 'run_done'
}

/**
 * Checks that the frames of a run are those in its log, in the same order, and that its last attempt has every token.
 */
async function expectWhole(
  bench: Bench,
  { thread_id, run_id }: { thread_id: string; run_id: string },
  frames: SseFrame[],
  replay: SseFrame[],
): Promise<void> {
  const { campaign } = bench
  const path = `/threads/${thread_id}/runs/${run_id}`
  const { status } = await json<{ status: string }>(bench, path)
  // A run whose process was killed three times is given up.
  if (status !== 'success' && (campaign.kills < 3 || status !== 'error')) {
    throw new Error(`run ${run_id} ended ${status}`)
  }
  // The read is repeated when the server is killed during the response.
  const log = await eventually(
    async () => (await ask(bench, `${path}/stream`, { headers: { 'last-event-id': '-' } })).text(),
    120_000,
  )
  expectSame(`run ${run_id}`, frames, framesOf(log))
  const ids = new Set(frames.map(({ id }) => id))
  expectSame(
    `run ${run_id} in its thread`,
    replay.filter(({ id }) => ids.has(id)),
    frames,
  )
  const attempt = frames.slice(frames.findLastIndex(({ event }) => event === 'metadata'))
  const texts = attempt.flatMap(({ event, data }) =>
    event === 'messages' ? (data as [{ content: string }])[0].content : [],
  )
  const expected = Array.from({ length: campaign.tokens }, (_, n) => `tok${n} `)
  // An attempt that began after the model's node had finished has no tokens.
  if (status === 'success' && texts.length > 0 && texts.join('') !== expected.join('')) {
    throw new Error(`run ${run_id} has ${texts.length} tokens, the last ${texts.at(-1)}`)
  }
}

function expectSame(whose: string, seen: readonly SseFrame[], expected: readonly SseFrame[]): void {
  const [found, wanted] = [seen, expected].map((frames) => frames.map((frame) => JSON.stringify(frame)))
  const at = wanted?.findIndex((frame, index) => frame !== found?.[index]) ?? 0
  if (at < 0 && found?.length === wanted?.length) return
  throw new Error(
    `${whose}: ${found?.length} events instead of ${wanted?.length}; at ${at} ${found?.[at]?.slice(0, 200)} instead of ${wanted?.[at]?.slice(0, 200)}`,
  )
}
