import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { temporaryDir } from '../../support/stores/clickhouse/embedded-clickhouse.ts'
import { campaign, LONG_MS } from '../../support/campaign.ts'
import { CLOCK_LIBRARY, type FakeClock, makeFakeClock } from '../../support/faults/fake-clock.ts'
import { eventually } from '../../support/eventually.ts'
import { startLoad } from '../../support/servers/load.ts'
import { storedFaults } from '../../support/traces/stored-traces.ts'
import { jsonBody, startWeir, type WeirProcess } from '../../support/servers/weir-process.ts'

// Several servers start, each with a changed clock.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

const GRAPH = fileURLToPath(new URL('../../fixtures/run-graphs/beats.mjs:graph', import.meta.url))
const THREADS = '/deployments/d/threads'
const STEPS = ['one', 'two', 'three']

const HOUR_MS = 3_600_000
/**
 * Offsets of the clock in seconds, applied one after the other. The first four also run in a small campaign: they set
 * the clock forwards and back.
 */
const OFFSETS = ['+0', '+3600', '+0', '-86400', '+172800', '-3600'].slice(0, campaign(6, 4))
/** Runs that are queued at each offset. */
const QUEUED = 2
/** Pause of each sender of traces. Every reading of a fake clock reads a file, which costs CPU. */
const PAUSE_MS = 100

interface Usage {
  usage: { dimensions: { project_name: string }; traces: number }[]
}

interface Values {
  steps: string[]
}

describe.skipIf(CLOCK_LIBRARY === undefined)(
  `a clock that is set under load${CLOCK_LIBRARY ? '' : ' (no libfaketime)'}`,
  () => {
    let dir: Awaited<ReturnType<typeof temporaryDir>>
    let weir: WeirProcess
    let env: Record<string, string>
    let clock: FakeClock

    beforeAll(async () => {
      dir = await temporaryDir()
      clock = await makeFakeClock(dir.dir)
      const graphs = join(dir.dir, 'langgraph.json')
      await writeFile(graphs, JSON.stringify({ graphs: { beats: GRAPH } }))
      env = { ...clock.env, GRAPHS: graphs, DEPLOYMENT_NAME: 'd' }
      weir = await startWeir(join(dir.dir, 'data'), env)
    })
    afterAll(async () => {
      expect(await weir.stop()).toBe(0)
      await dir.remove()
    })

    const newThread = async (): Promise<string> =>
      (await weir.json<{ thread_id: string }>(THREADS, jsonBody('POST', {}))).thread_id
    const request = (beats: number) =>
      jsonBody('POST', { assistant_id: 'beats', input: { file: join(dir.dir, 'beats'), beats } })

    it('keeps traces, states of threads and the queue, forwards and back, with and without a restart', async () => {
      const load = startLoad({ url: weir.url, session_name: 'clocks', pauseMs: PAUSE_MS })
      await load.reached(10)
      const thread_id = await newThread()
      const queued = await newThread()
      let runs = 0
      const goesOn = async (): Promise<void> => {
        const values = await weir.json<Values>(`${THREADS}/${thread_id}/runs/wait`, request(2))
        expect(values.steps).toEqual(Array.from({ length: ++runs }, () => STEPS).flat())
        const state = await weir.json<{ values: Values }>(`${THREADS}/${thread_id}/state`)
        expect(state.values.steps).toEqual(values.steps)
      }
      for (const offset of OFFSETS) {
        for (let n = 0; n < QUEUED; n++) await weir.json(`${THREADS}/${queued}/runs`, request(20))
        await clock.set(offset)
        await goesOn()
      }
      await load.stop()
      expect(load.refusals).toEqual([])
      expect(await weir.stop()).toBe(0)
      await clock.set('-172800')
      weir = await startWeir(join(dir.dir, 'data'), env)
      await goesOn()
      await eventually(async () => {
        const all = await weir.json<{ status: string }[]>(`${THREADS}/${queued}/runs?limit=100`)
        expect(all.map(({ status }) => status)).toEqual(
          Array.from({ length: OFFSETS.length * QUEUED }, () => 'success'),
        )
      })
      await weir.drained()
      expect(await storedFaults(weir, 'clocks', load.traces)).toEqual([])
    })

    it('counts each trace once; a key and a browser session end by the clock, and not for good', async () => {
      await clock.set('+0')
      const load = startLoad({ url: weir.url, session_name: 'counted', first: 100_000, pauseMs: PAUSE_MS })
      const complete = (): number => load.traces.filter(({ patched }) => patched).length
      const key = await newKey(new Date(Date.now() + HOUR_MS))
      const cookie = await signIn()
      for (const [offset, ofKey, ofSession] of [
        ['+0', 200, 200],
        ['+7200', 401, 200],
        ['+0', 200, 200],
        ['-86400', 200, 200],
        ['+864000', 401, 401],
        ['-3600', 200, 200],
      ]) {
        await clock.set(String(offset))
        const answers = [await status({ 'x-api-key': key }), await status({ cookie, origin: weir.url })]
        expect([offset, ...answers]).toEqual([offset, ofKey, ofSession])
        await load.reached(complete() + 10)
      }
      await load.stop()
      expect(load.refusals).toEqual([])
      await weir.drained()
      expect(await storedFaults(weir, 'counted', load.traces)).toEqual([])
      await eventually(async () => expect(await counted('counted')).toBe(load.traces.length))
    })

    it('limits failed sign-ins for a minute, wherever the clock is', async () => {
      await clock.set('+0')
      const refused = await Promise.all(Array.from({ length: 10 }, () => signInWith('no-ticket')))
      expect(refused.map((answer) => answer.status)).toEqual(refused.map(() => 401))
      for (const offset of ['+0', '+86400', '-86400']) {
        await clock.set(offset)
        expect([offset, (await signInWith('no-ticket')).status]).toEqual([offset, 429])
      }
    })

    function signInWith(ticket: string): Promise<Response> {
      const headers = { 'content-type': 'application/json', origin: weir.url }
      return fetch(`${weir.url}/auth/session`, { method: 'POST', headers, body: JSON.stringify({ ticket }) })
    }

    async function newKey(expires: Date): Promise<string> {
      const body = { description: 'for an hour', expires_at: expires.toISOString() }
      const made = await weir.json<{ key: string }>(
        '/api/v1/orgs/current/service-keys',
        jsonBody('POST', body),
      )
      return made.key
    }

    /** The cookie of a new browser session. */
    async function signIn(): Promise<string> {
      const { ticket } = await weir.json<{ ticket: string }>('/auth/tickets', { method: 'POST' })
      const answer = await signInWith(ticket)
      expect(answer.status).toBe(200)
      return answer.headers.getSetCookie()[0]?.split(';')[0] ?? ''
    }

    const status = async (headers: Record<string, string>): Promise<number> =>
      (await fetch(`${weir.url}/api/v1/workspaces`, { headers })).status

    /** Traces of the project in usage reports, over all times to which a clock was set. */
    async function counted(project: string): Promise<number> {
      const [workspace] = await weir.json<{ id: string }[]>('/api/v1/workspaces')
      const day = (days: number): string => new Date(Date.now() + days * 24 * HOUR_MS).toISOString()
      const range = { start_time: day(-30), end_time: day(30), workspace_ids: workspace?.id ?? '' }
      const query = new URLSearchParams({ ...range, group_by: 'project' })
      const { usage } = await weir.json<Usage>(
        `/api/v1/orgs/current/billing/granular-usage?${query.toString()}`,
      )
      const own = usage.filter(({ dimensions }) => dimensions.project_name === project)
      return own.reduce((sum, { traces }) => sum + traces, 0)
    }
  },
)
