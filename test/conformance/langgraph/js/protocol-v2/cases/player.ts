import { globSync, readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Client } from '@langchain/langgraph-sdk'
import { describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { eventually } from '../../../../../support/eventually.ts'
import {
  type PassedEvent,
  type RecordingProxy,
  startRecordingProxy,
} from '../../../../../support/runs/streams/recording-proxy.ts'
import type { DeploymentSetup } from '../../../../deployments/use-deployment.ts'
import { DIFFERENCES, EVENTS_DEPEND_ON_TIME } from './differences.ts'
import { lacks, scrubbed, shapesOf } from './shapes.ts'
import { someInShort } from '../../../../../support/length.ts'

/** A version of LangGraph's SDK for JavaScript. */
export interface Sdk {
  version: string
  Client: new (options: object) => unknown
  /** Its module `stream`. */
  stream: object
  /** Cases whose result differs in this version, with the reason. */
  leaves_out?: Readonly<Record<string, string>>
}

/** A recorded session (test/golden/protocol-v2/README.md). */
interface Case {
  about: string
  client: string
  script: string
  seen_by_client: Record<string, unknown>[]
  wire: { connection: number; kind: string; data?: { type?: string } }[]
}

const FOLDER = fileURLToPath(new URL('../../../../../golden/protocol-v2/', import.meta.url))
const SESSIONS: ReadonlyMap<string, Case> = new Map(
  globSync('{golden,expected,faults}/*.json', { cwd: FOLDER })
    .toSorted()
    .map((file) => [
      file.slice(0, -'.json'.length),
      JSON.parse(readFileSync(`${FOLDER}${file}`, 'utf8')) as Case,
    ]),
)

/** The session with the right outcome of the same script; the only other source for `v1-join` is differences.ts. */
const rightOf = (fault: string): string => {
  const expected = fault.replace('faults/', 'expected/')
  return SESSIONS.has(expected) ? expected : fault
}

const FAULTS = [...SESSIONS.keys()].filter((name) => name.startsWith('faults/'))
const CASES = [...SESSIONS].filter(
  ([name, { client }]) =>
    // Sessions of the Python SDK and of React have tests of their own.
    client === '@langchain/langgraph-sdk 1.15.0' &&
    !/commands/.test(name) &&
    (!name.startsWith('faults/') || rightOf(name) === name),
)

/**
 * The SDK closes a projection that it is still opening when the run ends. The end is sent 250 ms after the begin (V-31),
 * which is too soon for a client on a machine so busy that it opens its stream later.
 */
const PROJECTIONS = new Set(['golden/messages', 'golden/tool-calls'])

/** Its script looks at two runs some seconds after it has begun them, which is too soon on a very busy machine. */
const LOOKS_LATER = 'expected/two-runs'

/**
 * `submit` of a StreamController resolves with the first end that it reads: `#awaitRootTerminal` in the SDK's
 * stream/controller.js listens to both of its streams. The server sends the end over that of the content first, and 50 ms later
 * over the other. A busy machine may read the two the other way round, and then the messages are not complete yet.
 */
const tries = (name: string): number =>
  name.includes('/controller') || PROJECTIONS.has(name) || name === LOOKS_LATER ? 3 : 0

/** Scripts that never end, since the client waits for a run that it has already seen end. */
const ENDLESS = new Set(['golden/late'])

interface Outcome {
  seen: Record<string, unknown>[]
  events: readonly PassedEvent[]
}

/** Runs the script of a case with the SDK, through a proxy. */
async function play(
  { Client, stream }: Sdk,
  { url, weir }: DeploymentSetup,
  name: string,
  { script, seen_by_client }: Case,
): Promise<Outcome> {
  const proxy = await startRecordingProxy(url, weir.key)
  try {
    const client = new Client({ apiUrl: proxy.url, apiKey: null, callerOptions: { maxRetries: 0 } })
    const seen: Record<string, unknown>[] = []
    const note = (key: string, value: unknown): void => {
      seen.push({ [key]: JSON.parse(JSON.stringify(value ?? null)) as unknown })
    }
    const done = scriptOf(script, proxy, stream)({ client: client as Client, note, p: proxy })
    if (ENDLESS.has(name)) await eventually(async () => expect(seen).toHaveLength(seen_by_client.length))
    else await done
    // A script ends without waiting for the events that its last lines cause.
    await eventually(
      async () => expect(seen.length).toBeGreaterThanOrEqual(seen_by_client.length),
      5000,
    ).catch(() => undefined)
    return { seen, events: [...proxy.events] }
  } finally {
    await proxy.close()
  }
}

type Script = (given: {
  client: Client
  note(key: string, value: unknown): void
  p: RecordingProxy
}) => Promise<void>

/** Factor for the waiting times in scripts, for a busy machine. */
const PATIENCE = 2

/** The function that the text of a script is, with the names that scripts use. */
function scriptOf(script: string, p: RecordingProxy, stream: object): Script {
  const sleep = (ms: number): Promise<void> => delay(ms * PATIENCE)
  const names = {
    p,
    stream,
    WebSocket,
    sleep,
    human: (text: string, id = 'u1') => ({ messages: [{ role: 'user', content: text, id }] }),
    slow: (tokens: number, ms: number) => ({ configurable: { tokens, delay: ms * PATIENCE } }),
    within: (ms: number, promise: Promise<unknown>) =>
      Promise.race([promise, sleep(ms * PATIENCE).then(() => 'timed out')]),
    drain: (subscription: AsyncIterable<unknown> | Promise<AsyncIterable<unknown>>, into: unknown[]) =>
      void (async () => {
        for await (const event of await subscription) into.push(event)
      })().catch(() => undefined),
    ALL: ['values', 'updates', 'messages', 'tools', 'lifecycle', 'input', 'checkpoints', 'tasks', 'custom'],
  }
  // oxlint-disable-next-line no-new-func, typescript/no-implied-eval -- the recorded sessions contain what the client ran
  const make = new Function(...Object.keys(names), `return ${script}`) as (...values: unknown[]) => Script
  return make(...Object.values(names))
}

function recordedEvents({ wire }: Case): PassedEvent[] {
  return wire.flatMap(({ connection, data }) =>
    data?.type === 'event' ? [{ connection, event: data as PassedEvent['event'] }] : [],
  )
}

/** The server of `golden/` does not send that an interrupt was answered. */
function isRecorded(name: string, { event }: PassedEvent): boolean {
  return event.method !== 'input.answered' || !name.startsWith('golden/')
}

/** Where the outcome of a session is not the recorded one, but for intended differences. */
function deviations(name: string, recorded: Case, { seen, events }: Outcome): string[] {
  const { of_seen, of_events } = DIFFERENCES[name] ?? {}
  const wanted = scrubbed(recorded.seen_by_client)
  const inSeen = lacks(of_seen?.(wanted) ?? wanted, scrubbed(seen))
  if (EVENTS_DEPEND_ON_TIME.has(name)) return inSeen
  const told = shapesOf(recordedEvents(recorded))
  const passed = shapesOf(events.filter((one) => isRecorded(name, one)))
  return [...inSeen, ...lacks(of_events?.(told) ?? told, passed)]
}

/** Events of one connection come in order and once each (V-14, V-15). */
function assertInOrder(events: readonly PassedEvent[]): void {
  for (const connection of new Set(events.map((one) => one.connection))) {
    const own = events.filter((one) => one.connection === connection).map(({ event }) => event)
    expect(new Set(own.map(({ event_id }) => event_id)).size).toBe(own.length)
    const seqs = own.map(({ seq }) => seq)
    expect(seqs).toEqual(seqs.toSorted((a, b) => a - b))
  }
}

/** The comparison must notice what LangGraph's server does wrong, so that who passes the sessions does none of it. */
export function describeFaults(): void {
  describe('faults of LangGraph’s server in sessions of protocol v2', () => {
    it.each(FAULTS)('%s would fail the session with the right outcome', (fault) => {
      const [right, wrong] = [SESSIONS.get(rightOf(fault)), SESSIONS.get(fault)]
      if (right === undefined || wrong === undefined) throw new Error('no such session')
      expect(wrong.script).toBe(right.script)
      const outcome = { seen: wrong.seen_by_client, events: recordedEvents(wrong) }
      expect(deviations(rightOf(fault), right, outcome)).not.toEqual([])
    })
  })
}

/** Plays the recorded sessions with the SDK, and compares what it and the wire show. */
export function describeCases(sdk: Sdk, setup: () => DeploymentSetup): void {
  describe.concurrent(`recorded sessions of protocol v2 with the unmodified SDK ${sdk.version} (V-1 to V-43)`, () => {
    it('the graphs of the sessions are served', async () => {
      const graphs = (await setup().client.assistants.search({ limit: 100 })).map(({ graph_id }) => graph_id)
      expect(graphs).toContain('withStats')
    })

    for (const [name, recorded] of someInShort(CASES, 3))
      it.skipIf(sdk.leaves_out?.[name] !== undefined)(
        `${name}: ${recorded.about}${sdk.leaves_out?.[name] ?? ''}`,
        { retry: tries(name) },
        async () => {
          const outcome = await play(sdk, setup(), name, recorded)
          // On a socket each subscription has its own replay.
          if (!name.includes('/ws-')) assertInOrder(outcome.events)
          expect(deviations(name, recorded, outcome)).toEqual([])
        },
      )
  })
}
