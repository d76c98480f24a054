import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { WebSocket } from 'ws'
import { eventually } from '../../eventually.ts'
import { readFrames } from '../../runs/streams/sse-frames.ts'
import { KEY } from '../../servers/weir-process.ts'
import { ask, base, type CutBench, type CutPlans, json, onCutBench, whileKilled } from './cut-bench.ts'

export interface ProtocolCampaign extends CutPlans {
  threads: number
  /** Number of runs on each thread, one after the other. */
  runs: number
  tokens: number
}

/** The results. The campaign throws when a reader missed an event, or received one twice or out of order. */
export interface ProtocolReport {
  cuts: number
  kills: number
  events: number
}

interface ProtocolEvent {
  type: string
  event_id: string
  seq: number
  method: string
  params: { namespace: string[]; data: { event?: string; delta?: { text?: string } } }
}

/** The events that a reader has received, and the id of the last frame that had an event. */
interface Read {
  events: ProtocolEvent[]
  id: string | undefined
}

/** Reads on after the events received so far, until the connection breaks or `isWhole` is true. */
type Reader = (bench: CutBench, thread_id: string, read: Read, isWhole: () => boolean) => Promise<void>

const CHANNELS = [
  ...['values', 'updates', 'messages', 'tools', 'lifecycle', 'input', 'checkpoints', 'tasks', 'custom'],
]

const READERS: Readonly<Record<string, Reader>> = {
  seq: (bench, thread_id, read, isWhole) =>
    readStream(bench, thread_id, read, isWhole, { since: read.events.at(-1)?.seq ?? 0 }),
  event_id: (bench, thread_id, read, isWhole) =>
    readStream(bench, thread_id, read, isWhole, read.id === undefined ? { since: 0 } : {}, read.id),
  socket: readSocket,
}

/**
 * Creates runs over protocol v2. Three clients of each thread read the events (with `since`, with `Last-Event-ID`, and
 * over WebSockets) through a proxy that cuts connections. The received events are compared with the log.
 */
export function runProtocolCampaign(campaign: ProtocolCampaign): Promise<ProtocolReport> {
  return onCutBench(campaign, async (bench) => {
    const events = await whileKilled(bench, async () => {
      const work = Array.from({ length: campaign.threads }, () => readThread(bench, campaign))
      return (await Promise.all(work)).reduce((sum, count) => sum + count, 0)
    })
    return { cuts: bench.proxy.cuts, kills: bench.killed, events }
  })
}

async function readThread(bench: CutBench, { runs, tokens }: ProtocolCampaign): Promise<number> {
  const thread_id = randomUUID()
  const reading = Promise.all(
    Object.entries(READERS).map(async ([name, reader]) => ({
      name,
      events: await readAll(bench, thread_id, runs, reader),
    })),
  )
  reading.catch(() => undefined)
  const run_ids = Array.from({ length: runs }, () => randomUUID())
  for (const run_id of run_ids) await run(bench, thread_id, run_id, tokens)
  const wanted = await replay(bench, thread_id, runs)
  assertOrder(wanted)
  for (const { name, events } of await reading) assertSame(`${thread_id} by ${name}`, events, wanted)
  for (const run_id of run_ids) await assertRun(bench, thread_id, run_id, tokens, wanted)
  return wanted.length
}

/** Creates a run over v2 and waits for its end; a repeated command returns the same run. */
async function run(bench: CutBench, thread_id: string, run_id: string, tokens: number): Promise<void> {
  const input = { tokens, tokenDelayMs: 1 }
  const params = { assistant_id: 'tokens', run_id, input }
  const command = { id: 1, method: 'run.start', params }
  const answer = await json<{ type: string }>(bench, `/threads/${thread_id}/commands`, command)
  if (answer.type !== 'success') throw new Error(JSON.stringify(answer))
  await eventually(async () => {
    const { status } = await json<{ status: string }>(bench, `/threads/${thread_id}/runs/${run_id}`)
    if (status === 'pending' || status === 'running') throw new Error(`${run_id} is ${status}`)
  }, 600_000)
}

function isEnd({ method, params }: ProtocolEvent): boolean {
  return method === 'lifecycle' && params.namespace.length === 0 && params.data.event !== 'running'
}

async function readAll(
  bench: CutBench,
  thread_id: string,
  runs: number,
  reader: Reader,
): Promise<ProtocolEvent[]> {
  const read: Read = { events: [], id: undefined }
  const isWhole = (): boolean => read.events.filter(isEnd).length === runs
  while (!isWhole()) await reader(bench, thread_id, read, isWhole)
  return read.events
}

async function readStream(
  bench: CutBench,
  thread_id: string,
  read: Read,
  isWhole: () => boolean,
  start: object,
  last?: string,
  via = true,
): Promise<void> {
  const init = {
    method: 'POST',
    body: JSON.stringify({ channels: CHANNELS, ...start }),
    ...(last !== undefined && { headers: { 'last-event-id': last } }),
  }
  const answer = await ask(bench, `/threads/${thread_id}/stream/events`, init, via)
  try {
    for await (const { event, data, id } of readFrames(answer)) {
      if (event === 'gap') throw new Error(`${thread_id}: ${JSON.stringify(data)}`)
      read.events.push(data as ProtocolEvent)
      read.id = id
      if (isWhole()) return
    }
  } catch (error) {
    // The error of fetch for a broken connection.
    if (!(error instanceof TypeError)) throw error
  }
}

async function readSocket(
  bench: CutBench,
  thread_id: string,
  { events }: Read,
  isWhole: () => boolean,
): Promise<void> {
  const url = `${base(bench.proxy).replace('http', 'ws')}/threads/${thread_id}/stream/events`
  const socket = new WebSocket(url, { headers: { 'x-api-key': KEY } })
  const closed = new Promise((resolve) => socket.once('close', resolve))
  socket.on('error', () => undefined)
  socket.on('open', () => {
    const params = { channels: CHANNELS, since: events.at(-1)?.seq ?? 0 }
    socket.send(JSON.stringify({ id: 1, method: 'subscription.subscribe', params }))
  })
  socket.on('message', (data: Buffer) => {
    const frame = JSON.parse(String(data)) as ProtocolEvent
    if (frame.type === 'event') events.push(frame)
    if (isWhole()) socket.terminate()
  })
  await closed
  // The server may be down for a moment.
  if (!isWhole()) await delay(10)
}

/** All events of the thread, without the proxy. */
async function replay(bench: CutBench, thread_id: string, runs: number): Promise<ProtocolEvent[]> {
  const read: Read = { events: [], id: undefined }
  const isWhole = (): boolean => read.events.filter(isEnd).length === runs
  while (!isWhole()) {
    read.events = []
    await readStream(bench, thread_id, read, isWhole, { since: 0 }, undefined, false)
  }
  return read.events
}

function assertOrder(events: readonly ProtocolEvent[]): void {
  const at = events.findIndex(({ seq }, n) => n > 0 && seq <= (events[n - 1]?.seq ?? 0))
  if (at >= 0) throw new Error(`seq does not rise at ${at}: ${JSON.stringify(events.slice(at - 1, at + 1))}`)
  if (new Set(events.map(({ event_id }) => event_id)).size < events.length)
    throw new Error('an event_id is there twice')
}

function assertSame(whose: string, found: readonly ProtocolEvent[], wanted: readonly ProtocolEvent[]): void {
  const at = wanted.findIndex((event, n) => JSON.stringify(event) !== JSON.stringify(found[n]))
  if (at < 0 && found.length === wanted.length) return
  const [seen, missed] = [found[at], wanted[at]].map((event) => JSON.stringify(event)?.slice(0, 200))
  throw new Error(`${whose}: ${found.length} events, not ${wanted.length}; at ${at} ${seen}, not ${missed}`)
}

/** Checks that each run has one end, and that each successful run has every token of its last attempt. */
async function assertRun(
  bench: CutBench,
  thread_id: string,
  run_id: string,
  tokens: number,
  events: readonly ProtocolEvent[],
): Promise<void> {
  const { status } = await json<{ status: string }>(bench, `/threads/${thread_id}/runs/${run_id}`)
  // A run whose process was killed three times is given up.
  if (status !== 'success' && (bench.campaign.kills < 3 || status !== 'error'))
    throw new Error(`run ${run_id} ended ${status}`)
  const own = `synth:${run_id}:lc||`
  const begin = events.findLastIndex(({ event_id }) => event_id.startsWith(`${own}running`))
  const ends = events.filter((event) => isEnd(event) && event.event_id.startsWith(own))
  if (begin < 0 || ends.length !== 1) throw new Error(`run ${run_id}: ${ends.length} ends`)
  const attempt = events.slice(begin, events.indexOf(ends[0] as ProtocolEvent))
  const text = attempt.map(({ params }) => params.data?.delta?.text ?? '').join('')
  const whole = Array.from({ length: tokens }, (_, n) => `tok${n} `).join('')
  // An attempt that began after the model's node had finished has no tokens.
  if (status === 'success' && text !== '' && text !== whole)
    throw new Error(`run ${run_id} has ${text.length} characters instead of ${whole.length}`)
}
