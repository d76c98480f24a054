import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { temporaryDir } from '../../stores/clickhouse/embedded-clickhouse.ts'
import { eventually } from '../../eventually.ts'
import { noForgetfulDisk, openForgetfulDisk } from './forgetful-disk.ts'
import { startLoad } from '../../servers/load.ts'
import { type ProxiedStore, startProxiedStore } from './proxied-store.ts'
import { storedFaults } from '../../traces/stored-traces.ts'
import { jsonBody, startWeir, type WeirProcess } from '../../servers/weir-process.ts'

const GRAPH = fileURLToPath(new URL('../../../fixtures/run-graphs/beats.mjs:graph', import.meta.url))
const KEPT = ['api-key', 'installation', 'instance-id', 'webhook-secret']
const THREADS = '/deployments/d/threads'
const reason = noForgetfulDisk()

interface Made {
  thread_id: string
  run_id: string
}

/**
 * Registers a test for each value of SQLITE_SYNCHRONOUS, and the hooks that start and stop the services of all these
 * tests.
 */
export function describePowerLoss(settings: readonly ('normal' | 'full')[]): void {
  describe.skipIf(reason !== undefined)(
    `a loss of power${reason === undefined ? '' : ` (${reason})`}`,
    () => {
      let store: ProxiedStore
      beforeAll(async () => {
        store = await startProxiedStore()
      })
      afterAll(() => store.close())

      /**
       * Runs a new server under load, kills it, and starts the next one on the content that the disk would have after a
       * loss of power.
       */
      async function loseAndStart(synchronous: 'normal' | 'full') {
        const { dir, remove } = await temporaryDir()
        onTestFinished(remove)
        const [before, after] = [join(dir, 'before'), join(dir, 'after')]
        await mkdir(before)
        const disk = await openForgetfulDisk(before, dir)
        const graphs = join(dir, 'langgraph.json')
        await writeFile(graphs, JSON.stringify({ graphs: { beats: GRAPH }, env: disk.env }))
        const shared = { CLICKHOUSE_URL: store.newUrl(), GRAPHS: graphs, DEPLOYMENT_NAME: 'd' }
        const env = { ...shared, SQLITE_SYNCHRONOUS: synchronous, RUN_TRACING: 'off' }
        const weir = await startWeir(before, { ...env, ...disk.env })
        const load = startLoad({ url: weir.url, session_name: 'power' })
        const runs: Made[] = []
        for (let n = 0; n < 10; n++) runs.push(await makeRun(weir, join(dir, 'beats')))
        await load.reached(100)
        await weir.kill()
        await load.stop()
        await disk.restore(after)
        const next = await startWeir(after, env)
        onTestFinished(() => next.kill())
        return { next, runs, load, before, after }
      }

      it.each(settings)(
        'RUN-13: keeps acknowledged traces and the first key with SQLITE_SYNCHRONOUS=%s',
        async (synchronous) => {
          const { next, runs, load, before, after } = await loseAndStart(synchronous)
          await next.drained()
          expect(load.traces.filter(({ patched }) => patched).length).toBeGreaterThanOrEqual(100)
          expect(await storedFaults(next, 'power', load.traces)).toEqual([])
          for (const name of KEPT)
            expect([name, await text(after, name)]).toEqual([name, await text(before, name)])
          const answers = runs.map(({ thread_id, run_id }) =>
            next.fetch(`${THREADS}/${thread_id}/runs/${run_id}`),
          )
          const statuses = (await Promise.all(answers)).map(({ status }) => status)
          if (synchronous === 'normal')
            return expect(statuses.filter((s) => s !== 200 && s !== 404)).toEqual([])
          expect(statuses).toEqual(runs.map(() => 200))
          await eventually(async () => {
            for (const { thread_id } of runs)
              expect(await next.json(`${THREADS}/${thread_id}`)).toMatchObject({
                status: 'idle',
                values: { steps: ['one', 'two', 'three'] },
              })
          })
        },
      )
    },
  )
}

async function makeRun(weir: WeirProcess, file: string): Promise<Made> {
  const { thread_id } = await weir.json<Made>(THREADS, jsonBody('POST', {}))
  const request = { assistant_id: 'beats', input: { file, beats: 3 } }
  return weir.json<Made>(`${THREADS}/${thread_id}/runs`, jsonBody('POST', request))
}

/** The text of a file; undefined if the file is missing. */
function text(dir: string, name: string): Promise<string | undefined> {
  return readFile(join(dir, name), 'utf8').catch(() => undefined)
}
