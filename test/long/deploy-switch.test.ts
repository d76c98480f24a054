import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from '@langchain/langgraph-sdk'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  addRevision,
  archiveOf,
  createDeployment,
  endedRevision,
  type Project,
} from '../support/deploy-project.ts'
import { KEY, startWeir, type WeirProcess } from '../support/servers/weir-process.ts'

const UPDATES = 20
const CLIENTS = 4
const NAME = 'switched'

let dir: string
let weir: WeirProcess
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'weir-deploy-switch-'))
  weir = await startWeir(join(dir, 'data'), { DEPLOY_START_SECONDS: '30' })
})
afterAll(async () => {
  expect(await weir.stop()).toBe(0)
  await rm(dir, { recursive: true, force: true })
})

/** A graph of two steps that notes each run in a file once, and answers with the number of its revision. */
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

/** Projects of which no revision can serve. */
const BROKEN: readonly [Project, string][] = [
  [{ ...noting(0), 'agent.ts': "import 'no-such-package'\n" }, 'DEPLOY_FAILED'],
  [{ ...noting(0), 'agent.ts': 'export const other = 1\n' }, 'DEPLOY_FAILED'],
  [{ ...noting(0), 'agent.ts': 'while (true) {}\n' }, 'DEPLOY_FAILED'],
  [{ ...noting(0), 'langgraph.json': '{' }, 'BUILD_FAILED'],
  [{ 'agent.ts': '' }, 'CREATE_FAILED'],
]

interface Load {
  /** Ids of the runs that were asked for. */
  ids: string[]
  /** Revisions that answered. */
  revisions: Set<number>
  stop(): Promise<void>
}

/** Clients that make one run after the other, waited for and streamed in turn, until they are stopped. */
function startLoad(): Load {
  const load = { ids: [] as string[], revisions: new Set<number>() }
  let isOver = false
  const work = async (place: number): Promise<void> => {
    const callerOptions = { maxRetries: 0 }
    const client = new Client({ apiUrl: `${weir.url}/deployments/${NAME}`, apiKey: KEY, callerOptions })
    for (let n = 0; !isOver; n += 1) {
      const input = { id: `${place}-${n}` }
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
    }
  }
  const all = Promise.all(Array.from({ length: CLIENTS }, (_, place) => work(place)))
  // The failure of a client is reported by `stop`.
  all.catch(() => undefined)
  return {
    ...load,
    async stop() {
      isOver = true
      await all
    },
  }
}

describe(`${UPDATES} updates of a deployment under runs and streams`, () => {
  it('P-33, P-34: no request fails, no run is lost or executed twice, and broken revisions change nothing', async () => {
    const notes = join(dir, 'notes')
    const secrets = [{ name: 'NOTES', value: notes }]
    const { id } = await createDeployment(weir, NAME)
    const update = async (project: Project): Promise<string> => {
      const { id: revision_id } = await addRevision(weir, id, await archiveOf(project), secrets)
      return (await endedRevision(weir, id, revision_id)).status
    }
    expect(await update(noting(0))).toBe('DEPLOYED')
    const load = startLoad()
    for (let number = 1; number <= UPDATES; number += 1) {
      expect([number, await update(noting(number))]).toEqual([number, 'DEPLOYED'])
      const [project, status] = number % 4 === 0 ? (BROKEN[number / 4 - 1] ?? []) : []
      if (project !== undefined) expect(await update(project)).toBe(status)
    }
    await load.stop()
    expect((await readFile(notes, 'utf8')).trim().split('\n').toSorted()).toEqual(load.ids.toSorted())
    expect(load.ids.length).toBeGreaterThan(UPDATES)
    expect(load.revisions.has(UPDATES)).toBe(true)
    expect(load.revisions.size).toBeGreaterThan(UPDATES / 2)
  })
})
