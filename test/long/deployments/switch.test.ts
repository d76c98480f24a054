import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Client } from '@langchain/langgraph-sdk'
import { describe, expect, it, vi } from 'vitest'
import { campaign, LONG_MS } from '../../support/campaign.ts'
import {
  addRevision,
  archiveOf,
  createDeployment,
  endedRevision,
  type Project,
} from '../../support/deployments/deploy-project.ts'
import { eventually } from '../../support/eventually.ts'
import { quantile } from '../../support/deployments/neighbours.ts'
import { useOwnWeir } from '../../support/servers/own-weir.ts'
import { KEY } from '../../support/servers/weir-process.ts'

// Packages are installed, and every revision starts processes.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

const UPDATES = campaign(20, 10)
/** Four clients with a run every 200 ms begin 20 runs a second. */
const CLIENTS = 4
const EVERY_MS = 200
const STREAMS = 50
/** Length of a window; the slowest runs of windows are compared. */
const WINDOW_MS = 2_000
const WINDOWS = campaign(8, 4)
const NAME = 'switched'

const server = useOwnWeir({ DEPLOY_START_SECONDS: '60' })

/** A graph of two steps. It writes each run to a file once, and answers with the number of its revision. */
function noting(number: number): Project {
  return {
    'langgraph.json': JSON.stringify({ graphs: { agent: './agent.ts:graph' } }),
    'agent.ts': `
      import { appendFileSync } from 'node:fs'
      import { Annotation, END, START, StateGraph } from '@langchain/langgraph'
      const State = Annotation.Root({ revision: Annotation<number>(), id: Annotation<string>() })
      export const graph = new StateGraph(State)
        .addNode('note', ({ id }) => {
          appendFileSync(process.env.NOTES ?? '', id + '\\n')
          return {}
        })
        .addNode('end', async () => {
          await new Promise((resolve) => setTimeout(resolve, 50))
          return { revision: ${number} }
        })
        .addEdge(START, 'note')
        .addEdge('note', 'end')
        .addEdge('end', END)
        .compile()
    `,
  }
}

/** Projects whose revisions must fail, each with the expected status. */
const BROKEN: readonly [Project, string][] = [
  [{ ...noting(0), 'agent.ts': "import 'no-such-package'\n" }, 'DEPLOY_FAILED'],
  [{ ...noting(0), 'agent.ts': 'export const other = 1\n' }, 'DEPLOY_FAILED'],
  [{ ...noting(0), 'agent.ts': 'while (true) {}\n' }, 'DEPLOY_FAILED'],
  [{ ...noting(0), 'langgraph.json': '{' }, 'BUILD_FAILED'],
  [{ 'agent.ts': '' }, 'CREATE_FAILED'],
]

interface Load {
  /** Ids of the requested runs. */
  ids: string[]
  /** Numbers of the revisions that executed runs. */
  revisions: Set<number>
  /** When each run began and ended. */
  times: [begun: number, ended: number][]
  stop(): Promise<void>
}

/** Clients that make one run after the other until they are stopped; they wait for one run and stream the next. */
function startLoad(): Load {
  const load: Omit<Load, 'stop'> = { ids: [], revisions: new Set(), times: [] }
  let isOver = false
  const work = async (place: number): Promise<void> => {
    const callerOptions = { maxRetries: 0 }
    const client = new Client({
      apiUrl: `${server.current().url}/deployments/${NAME}`,
      apiKey: KEY,
      callerOptions,
    })
    for (let n = 0; !isOver; n += 1) {
      const input = { id: `${place}-${n}` }
      const begun = performance.now()
      load.ids.push(input.id)
      let values: unknown
      if (n % 2 === 0) values = await client.runs.wait(null, 'agent', { input })
      else
        for await (const { event, data } of client.runs.stream(null, 'agent', {
          input,
          streamMode: 'values',
        }))
          if (event === 'values') values = data
          else if (event === 'error') throw new Error(JSON.stringify(data))
      load.revisions.add((values as { revision: number }).revision)
      load.times.push([begun, performance.now()])
      await delay(Math.max(0, begun + EVERY_MS - performance.now()))
    }
  }
  const all = Promise.all(Array.from({ length: CLIENTS }, (_, place) => work(place)))
  // `stop` reports the failure of a client.
  all.catch(() => undefined)
  return {
    ...load,
    async stop() {
      isOver = true
      await all
    },
  }
}

/** The duration of the slowest run that was active during the window around a moment. */
function slowestAt(times: Load['times'], moment: number): number {
  const [from, to] = [moment - WINDOW_MS / 2, moment + WINDOW_MS / 2]
  const found = times.filter(([begun, ended]) => begun < to && ended > from)
  return Math.max(0, ...found.map(([begun, ended]) => ended - begun))
}

/** Streams of threads that stay open, and how many of them have ended. */
async function openStreams() {
  const api = `${server.current().url}/deployments/${NAME}`
  const client = new Client({ apiUrl: api, apiKey: KEY })
  const texts = new Map<string, string>()
  let ended = 0
  const over = new AbortController()
  for (let n = 0; n < STREAMS; n += 1) {
    const { thread_id } = await client.threads.create()
    const url = `${api}/threads/${thread_id}/stream`
    const stream = await fetch(url, { headers: { 'x-api-key': KEY }, signal: over.signal })
    expect(stream.status).toBe(200)
    texts.set(thread_id, '')
    const read = async (): Promise<void> => {
      for await (const part of stream.body ?? [])
        texts.set(thread_id, texts.get(thread_id) + Buffer.from(part).toString())
      ended += 1
    }
    read().catch(() => (ended += over.signal.aborted ? 0 : 1))
  }
  return {
    /** Makes a run on each thread. Resolves with the ids of these runs once their streams have sent them. */
    async runEach(): Promise<string[]> {
      const ids = [...texts.keys()].map((_thread, n) => `stream-${n}`)
      const runs = [...texts.keys()].map((thread_id, n) =>
        client.runs.wait(thread_id, 'agent', { input: { id: ids[n] } }),
      )
      await Promise.all(runs)
      await eventually(async () => {
        const told = [...texts.values()].filter((text, n) => text.includes(`"${ids[n]}"`))
        expect([told.length, ended]).toEqual([STREAMS, 0])
      })
      return ids
    },
    close: () => over.abort(),
  }
}

describe(`${UPDATES} updates of a deployment under runs and streams`, () => {
  it('P-33, P-34: no request fails, no run is lost or executed twice, no stream ends, and broken revisions change nothing', async () => {
    const weir = server.current()
    const notes = join(weir.dataDir, 'notes')
    const secrets = [{ name: 'NOTES', value: notes }]
    const { id } = await createDeployment(weir, NAME)
    const update = async (project: Project): Promise<{ status: string; error: unknown }> => {
      const { id: revision_id } = await addRevision(weir, id, await archiveOf(project), secrets)
      const { status, weir: details } = await endedRevision(weir, id, revision_id)
      return { status, error: details.error }
    }
    const deployed = { status: 'DEPLOYED', error: null }
    expect(await update(noting(0))).toEqual(deployed)
    const load = startLoad()
    const streams = await openStreams()
    const calm = async (): Promise<number[]> => {
      const moments: number[] = []
      for (let n = 0; n < WINDOWS; n += 1) {
        await delay(WINDOW_MS)
        moments.push(performance.now() - WINDOW_MS / 2)
      }
      return moments
    }
    const before = await calm()
    const switches: number[] = []
    for (let number = 1; number <= UPDATES; number += 1) {
      expect([number, await update(noting(number))]).toEqual([number, deployed])
      switches.push(performance.now())
      const [project, status] = BROKEN[(number * BROKEN.length) / UPDATES - 1] ?? []
      if (project !== undefined) expect(await update(project)).toMatchObject({ status })
    }
    const after = await calm()
    await load.stop()
    const ids = [...load.ids, ...(await streams.runEach())]
    streams.close()
    expect((await readFile(notes, 'utf8')).trim().split('\n').toSorted()).toEqual(ids.toSorted())
    expect(load.ids.length).toBeGreaterThan(UPDATES)
    expect(load.revisions.has(UPDATES)).toBe(true)
    expect(load.revisions.size).toBeGreaterThan(UPDATES / 2)
    // Nothing is asserted: a host that starts needs a processor for a second, so the ratio depends on the load of the
    // machine.
    const slowest = (moments: number[]): number =>
      quantile(
        moments.map((moment) => slowestAt(load.times, moment)),
        0.5,
      )
    const figures = { before: slowest(before), beside: slowest(switches), after: slowest(after) }
    console.log(JSON.stringify({ runs: load.ids.length, ...figures }))
  })
})
