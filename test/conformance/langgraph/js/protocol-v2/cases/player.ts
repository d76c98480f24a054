import { setTimeout as delay } from 'node:timers/promises'
import type { Client } from '@langchain/langgraph-sdk'
import { describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { eventually } from '../../../../../support/eventually.ts'
import {
  type RecordingProxy,
  startRecordingProxy,
} from '../../../../../support/runs/streams/recording-proxy.ts'
import type { DeploymentSetup } from '../../../../deployments/use-deployment.ts'
import { someInShort } from '../../../../../support/length.ts'
import { assertInOrder, deviations, deviationsInSeen, type Outcome, recordedEvents } from './compare.ts'
import { FAULTS, rightOf, SESSIONS, type Session } from './sessions.ts'

/** A version of LangGraph's SDK for JavaScript. */
export interface Sdk {
  version: string
  Client: new (options: object) => unknown
  stream: object
  /** Cases that are skipped because this version of the SDK gives another result, with the reason. */
  leaves_out?: Readonly<Record<string, string>>
}

/** The sessions of the JavaScript SDK. Sessions of the Python SDK and of React have tests of their own. */
const CASES = [...SESSIONS].filter(
  ([name, { client }]) =>
    client === '@langchain/langgraph-sdk 1.15.0' && (!name.startsWith('faults/') || rightOf(name) === name),
)
const isOfPython = ([name]: [string, Session]): boolean => name.startsWith('python-server/')

/**
 * In these sessions the SDK opens projections, and closes each one that is not open when the run ends. The server sends
 * the end at least 250 ms after the beginning (V-31). On a busy machine the SDK may need longer to open its stream.
 */
const PROJECTIONS = new Set(['golden/messages', 'golden/tool-calls'])

/**
 * The scripts of these sessions look at runs some seconds after they have started them. On a very busy machine that is
 * too soon.
 */
const LOOKS_LATER = new Set(['expected/two-runs', 'expected/ws-http'])

/**
 * In these sessions a StreamController reads two streams, and its `submit` resolves with the first end that it reads
 * (`#awaitRootTerminal` in the SDK's stream/controller.js). The server sends the end on the content stream first, and
 * on the other one 50 ms later. On a busy machine the SDK may read the second stream first, when the messages are not
 * complete yet.
 */
const tries = (name: string): number =>
  name.includes('/controller') || PROJECTIONS.has(name) || LOOKS_LATER.has(name) ? 3 : 0

/** Sessions whose script never ends: the client waits for the end of a run although it has read it already. */
const ENDLESS = new Set(['golden/late'])

/** Runs the script of a case with the SDK, through a proxy. */
async function play(
  { Client, stream }: Sdk,
  { url, weir }: DeploymentSetup,
  name: string,
  { script, seen_by_client }: Session,
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
    // Scripts do not wait for the events that their last lines cause.
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

/** Factor for the pauses in scripts, for a busy machine. */
const PATIENCE = 2

/** Makes a function from the text of a script. Its parameters have the names that scripts use. */
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
  // oxlint-disable-next-line no-new-func, typescript/no-implied-eval -- each recorded session contains the source of its script
  const make = new Function(...Object.keys(names), `return ${script}`) as (...values: unknown[]) => Script
  return make(...Object.values(names))
}

/**
 * Tests that the comparison detects the faults of LangGraph's servers; otherwise Weir could have them and still pass.
 */
export function describeFaults(): void {
  describe('faults of LangGraph’s servers in sessions of protocol v2', () => {
    it.each(FAULTS)('%s would fail the session with the right outcome', (fault) => {
      const [right, wrong] = [SESSIONS.get(rightOf(fault)), SESSIONS.get(fault)]
      if (right === undefined || wrong === undefined) throw new Error('no such session')
      expect(wrong.script).toBe(right.script)
      const seen = wrong.seen_by_client
      // Events of Python graphs always differ, so only what the client reports is compared.
      const found = fault.startsWith('faults/')
        ? deviations(rightOf(fault), right, { seen, events: recordedEvents(wrong) })
        : deviationsInSeen(rightOf(fault), right, seen)
      expect(found).not.toEqual([])
    })
  })
}

/** Plays the sessions that were recorded with LangGraph's JavaScript server, and those with the right outcome. */
export function describeCases(sdk: Sdk, setup: () => DeploymentSetup): void {
  describe.concurrent(`recorded sessions of protocol v2 with the unmodified SDK ${sdk.version} (V-1 to V-43)`, () => {
    const cases = CASES.filter((one) => !isOfPython(one))
    playAll(cases, sdk, setup)
  })
}

/** Plays the sessions that were recorded with LangGraph's Python server, on a deployment with Python graphs. */
export function describePythonCases(sdk: Sdk, setup: () => DeploymentSetup): void {
  describe.concurrent(`recorded sessions of Python graphs with the unmodified SDK ${sdk.version} (V-1 to V-43)`, () =>
    playAll(CASES.filter(isOfPython), sdk, setup))
}

/** Plays sessions with the SDK, and compares what the client reports and the events on the wire with the recording. */
function playAll(cases: readonly [string, Session][], sdk: Sdk, setup: () => DeploymentSetup): void {
  it('the graphs of the sessions are served', async () => {
    const graphs = (await setup().client.assistants.search({ limit: 100 })).map(({ graph_id }) => graph_id)
    expect(graphs).toContain('nested')
  })

  for (const [name, recorded] of someInShort(cases, 15))
    it.skipIf(sdk.leaves_out?.[name] !== undefined)(
      `${name}: ${recorded.about}${sdk.leaves_out?.[name] ?? ''}`,
      { retry: tries(name) },
      async () => {
        const outcome = await play(sdk, setup(), name, recorded)
        // On a WebSocket the server replays events once for each subscription.
        if (!name.includes('/ws-')) assertInOrder(outcome.events)
        expect(deviations(name, recorded, outcome)).toEqual([])
      },
    )
}
