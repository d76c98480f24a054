import { readdir, readFile } from 'node:fs/promises'
import { Client as DeploymentClient } from '@langchain/langgraph-sdk'
import { Client, RunTree } from 'langsmith'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { LONG_MS } from '../../support/campaign.ts'
import { eventually } from '../../support/eventually.ts'
import { createImageContainer, IMAGE_RUNTIME, type ImageContainer } from '../../image/container.ts'
import { KEY } from '../../support/servers/weir-process.ts'
import { temporaryDir } from '../../support/stores/clickhouse/embedded-clickhouse.ts'

// The image is started twice.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

const REASON = 'reason' in IMAGE_RUNTIME ? IMAGE_RUNTIME.reason : ''
const DRAIN_SECONDS = 2
/** What the chart adds to the delay. */
const GRACE_SECONDS = DRAIN_SECONDS + 30

/** The pids of a process and all below it. */
async function processesBelow(pid: number): Promise<number[]> {
  const tasks = await readdir(`/proc/${pid}/task`)
  const lists = await Promise.all(tasks.map((task) => readFile(`/proc/${pid}/task/${task}/children`, 'utf8')))
  const children = lists.join(' ').split(' ').filter(Boolean).map(Number)
  return [pid, ...(await Promise.all(children.map(processesBelow))).flat()]
}

/** The lines of /proc about the rights of a process. */
async function rightsOf(pid: number): Promise<Record<string, string>> {
  const lines = (await readFile(`/proc/${pid}/status`, 'utf8')).split('\n').map((line) => line.split(':\t'))
  const shown = ['Uid', 'Gid', 'CapPrm', 'CapEff', 'CapBnd', 'NoNewPrivs']
  return Object.fromEntries(lines.filter(([name = '']) => shown.includes(name)))
}

describe.skipIf(REASON !== '')(
  `the image of the Dockerfile as deploy/helm/templates/statefulset.yaml starts it${REASON}`,
  () => {
    let container: ImageContainer
    const ends: (() => Promise<unknown>)[] = []

    beforeAll(async () => {
      const { dir, remove } = await temporaryDir()
      ends.push(remove)
      container = await createImageContainer(dir, { DRAIN_DELAY_SECONDS: String(DRAIN_SECONDS) })
      ends.push(() => container.remove())
      await container.start()
    })
    afterAll(async () => {
      for (const end of ends.reverse()) await end()
    })

    async function sendTrace(name: string): Promise<string> {
      const client = new Client({ apiUrl: container.url, apiKey: KEY })
      const trace = new RunTree({ name, run_type: 'chain', client, inputs: { text: name } })
      await trace.postRun()
      await trace.end({ text: `${name} ended` })
      await trace.patchRun()
      await client.awaitPendingTraceBatches()
      return trace.id
    }
    async function expectTrace(id: string, name: string): Promise<void> {
      const client = new Client({ apiUrl: container.url, apiKey: KEY })
      const ended = { name, status: 'success', outputs: { text: `${name} ended` } }
      await eventually(async () => expect(await client.readRun(id)).toMatchObject(ended))
    }

    it('all its processes are of user 1000, without capabilities, and can write only to the volumes', async () => {
      for (const pid of await processesBelow(await container.pid()))
        expect(await rightsOf(pid)).toEqual({
          Uid: '1000\t1000\t1000\t1000',
          Gid: '1000\t1000\t1000\t1000',
          CapPrm: '0000000000000000',
          CapEff: '0000000000000000',
          CapBnd: '0000000000000000',
          NoNewPrivs: '1',
        })
      for (const folder of ['/', '/app', '/home/node', '/var/tmp'])
        await expect(container.exec('touch', `${folder}/new`)).rejects.toThrow(/Read-only file system/)
      await container.healthcheck()
    })

    it('it stores a trace, runs the example graph, stops within its grace, and has both after a start', async () => {
      const first = await sendTrace('first')
      await expectTrace(first, 'first')
      const graphs = new DeploymentClient({ apiUrl: container.deploymentUrl, apiKey: KEY })
      const { thread_id } = await graphs.threads.create()
      const input = { messages: [{ role: 'user', content: 'What is 6 times 7?' }] }
      const values = await graphs.runs.wait(thread_id, 'agent', { input })
      expect(values).toMatchObject({
        messages: expect.arrayContaining([expect.objectContaining({ type: 'ai' })]),
      })

      const last = await sendTrace('last')
      const from = performance.now()
      expect(await container.stop(GRACE_SECONDS)).toBe(0)
      const seconds = (performance.now() - from) / 1000
      console.log(`the image stopped in ${seconds.toFixed(1)} s`)
      expect(seconds).toBeLessThan(GRACE_SECONDS)

      await container.start()
      await expectTrace(first, 'first')
      await expectTrace(last, 'last')
      expect((await graphs.threads.getState(thread_id)).values).toEqual(values)
    })
  },
)
