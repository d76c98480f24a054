import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import {
  type DeploymentFile,
  type GraphEntry,
  readDeploymentFile,
} from '../../src/graph/project/deployment-file.ts'
import type { GraphLanguage } from '../../src/graph/project/graph-spec.ts'
import type { GraphHostOptions } from '../../src/graph/pool/launch.ts'
import type { GraphEnd, GraphJob, StreamItem } from '../../src/runs/execute/graph-host.ts'
import type { JsonObject } from '../../src/schema/json.ts'
import { until } from '../support/stores/clickhouse/embedded-clickhouse.ts'
import { FIXTURES_OF, type HostBench, openHostBench } from '../support/runs/hosts/graph-hosts.ts'
import { newGate } from '../support/runs/gate.ts'
import { newFolder } from '../support/folder.ts'

let language: GraphLanguage
/** The hosts of the current test. */
let bench: HostBench | undefined
/** Hosts are opened once for each set of options. Tests with the same options use them one after the other. */
const benches = new Map<string, HostBench>()
async function open(options: Partial<GraphHostOptions> = {}): Promise<HostBench> {
  const key = JSON.stringify(options)
  bench = benches.get(key)
  if (bench === undefined) {
    const all = { stallMs: 60_000, cancelGraceMs: 1_000, language, ...options }
    bench = await openHostBench(['tokens', 'hostile'], all)
    benches.set(key, bench)
  }
  return bench
}

const EMPTY_ENTRY: Omit<GraphEntry, 'graph_id' | 'file' | 'language'> = {
  export: 'graph',
  description: null,
  config: {},
  context: {},
  module: null,
}

/** Stores the writes of a step before the next step begins, even if that step ends the process at once. */
const SYNC = { durability: 'sync' } as const

/** Begins a run; resolves when its first step has ended. */
async function begin(claimed: GraphJob, signal = new AbortController().signal) {
  let hasBegun = false
  const items = (batch: readonly StreamItem[]): void => {
    hasBegun ||= batch.some(({ data }) => data.includes('"before"'))
  }
  const ended = (bench as HostBench).hosts.run(claimed, { items, trace: () => undefined }, signal)
  await until('a run has begun', () => hasBegun)
  return { ended }
}

const valuesOf = (end: GraphEnd) => JSON.parse(end.state?.values_json ?? 'null') as JsonObject | null

/** Executes `act` beside a second run in the only host, and returns the ends of both. */
async function beside(act: string, options: Partial<GraphHostOptions> = {}) {
  const { run, job, hosts } = await open({ maxHosts: 1, ...options })
  const [pid] = hosts.pids()
  const gate = await newGate()
  const neighbourJob = await job('hostile', { act: 'until', mark: gate.file })
  const neighbour = await begin(neighbourJob)
  const hostile = await run('hostile', { act }, SYNC)
  await gate.open()
  return { hostile: hostile.end, neighbour: await neighbour.ended, neighbourJob, pid }
}

/** Checks that the deployment can still execute a run. */
async function expectAlive(): Promise<void> {
  const { end } = await (bench as HostBench).run('tokens', { tokens: 1 })
  expect(end).toMatchObject({ kind: 'done' })
}

/** Begins a run whose node blocks. Resolves when the node blocks its host. */
async function block() {
  const { job, hosts } = bench as HostBench
  const abort = new AbortController()
  const folder = await mkdtemp(join(tmpdir(), 'weir-blocks-'))
  const mark = join(folder, 'blocks')
  const blocking = await job('hostile', { act: 'block', mark }, SYNC)
  const ended = hosts.run(blocking, { items: () => undefined, trace: () => undefined }, abort.signal)
  await until('its node blocks', () => existsSync(mark))
  await rm(folder, { recursive: true })
  return { ended, abort }
}

/**
 * The source of a module that exports another module's graph. While the file `there` is missing, the module's second
 * line throws.
 */
function laterModule(graphs: string, there: string): string {
  if (language === 'javascript')
    return `import { existsSync } from 'node:fs'
if (!existsSync('${there}')) throw new Error('what it needs is not there')
export { graph } from '${graphs}'`
  return `import os, sys
if not os.path.exists('${there}'): raise Exception('what it needs is not there')
sys.path.append('${dirname(graphs)}')
from tokens import graph`
}

/** Registers the tests of hosts of one language in which the code of graphs is hostile, or the system fails. */
export function hostFaultTests(of: GraphLanguage, extent: 'main cases' | 'every case'): void {
  language = of
  afterAll(async () => {
    for (const one of benches.values()) await one.stop()
  })

  describe('user code that ends its process', () => {
    it('ends its own run as the cause; another run is retried and continues from its checkpoint', async () => {
      const { hostile, neighbour, neighbourJob, pid } = await beside('exit')
      expect(hostile).toMatchObject({
        kind: 'lost',
        culprit: true,
        message: 'The graph ended its process with code 3.',
        state: { next: ['misbehave'] },
      })
      expect(valuesOf(hostile)).toMatchObject({ log: 'before' })
      expect(neighbour).toMatchObject({ kind: 'lost', culprit: false })
      await expectAlive()
      expect((bench as HostBench).hosts.pids()).not.toContain(pid)
      expect(neighbourJob.run.attempt).toBe(1)
    })
  })

  if (extent === 'every case') describeMore(of)

  // These tests come last, because hosts that were stopped do not start again.
  describe('graph hosts that are stopped', () => {
    it('lose the active runs, none of which is the cause, and leave no process behind', async () => {
      const { hosts, job } = await open({ maxHosts: 1 })
      const pids = hosts.pids()
      const { ended } = await begin(await job('hostile', { act: 'ignore' }))
      await hosts.stop()
      expect(await ended).toMatchObject({ kind: 'lost', culprit: false })
      for (const pid of pids) expect(() => process.kill(pid, 0)).toThrow(/ESRCH/)
      await expect(hosts.ready()).rejects.toMatchObject({ code: 'host_unavailable' })
    })
  })
}

function describeMore(of: GraphLanguage): void {
  describe('a host that is killed from outside', () => {
    it('loses all its runs, none of which is the cause, and each is then executed alone', async () => {
      const { job, hosts } = await open({ maxHosts: 1 })
      const gate = await newGate()
      const input = { act: 'until', mark: gate.file }
      const jobs = await Promise.all([1, 2, 3].map(() => job('hostile', input)))
      const never = new AbortController().signal
      let together = 0
      let most = 0
      const [pid] = hosts.pids()
      if (pid === undefined) throw new Error('there is no host')
      const first = await Promise.all(jobs.map((one) => begin(one)))
      process.kill(pid, 'SIGKILL')
      const ends = await Promise.all(first.map(({ ended }) => ended))
      expect(ends.map((end) => end.kind === 'lost' && !end.culprit)).toEqual([true, true, true])
      await gate.open()

      const again = jobs.map(async (one) => {
        let isFirst = true
        const items = () => {
          if (isFirst) most = Math.max(most, ++together)
          isFirst = false
        }
        const end = await hosts.run(
          { ...one, run: { ...one.run, attempt: 2 } },
          { items, trace: () => undefined },
          never,
        )
        together -= 1
        return end
      })
      expect((await Promise.all(again)).map((end) => valuesOf(end)?.['log'])).toEqual([
        'acted',
        'acted',
        'acted',
      ])
      expect(most).toBe(1)
    })
  })

  describe('a node that blocks the event loop', () => {
    it('HOST-14: is found after the stall time, with the position in its code; the other run is not the cause', async () => {
      const { hostile, neighbour } = await beside('block', { stallMs: 3_000 })
      expect(hostile).toMatchObject({ kind: 'lost', culprit: true, state: { next: ['misbehave'] } })
      expect(hostile.kind === 'lost' && hostile.message).toMatch(
        /held up the graph host for \d+ s\. \(.*hostile\.(mjs|py):\d+\)/,
      )
      expect(neighbour).toMatchObject({ kind: 'lost', culprit: false })
      await expectAlive()
    })

    it('CANCEL-7: is ended by a cancel after the grace time, with the state that it left', async () => {
      // The stall time alone would end the run only after this test.
      const { hosts } = await open({ stallMs: 600_000 })
      const { ended, abort } = await block()
      abort.abort()
      expect(await ended).toMatchObject({ kind: 'cancelled', state: { next: ['misbehave'] } })
      expect(hosts.pids().length).toBeGreaterThan(0)
      await expectAlive()
    })

    it('RUN-15: does not delay runs that begin meanwhile', async () => {
      const { run, hosts } = await open({ cancelGraceMs: 300 })
      // Once a host has executed a run, a second one is kept ready.
      await run('tokens', {})
      await until('a second host', () => hosts.pids().length === 2)
      await hosts.ready()
      const { ended, abort } = await block()
      const others = await Promise.all(Array.from({ length: 10 }, () => run('tokens', { tokens: 1 })))
      expect(others.map(({ end }) => end)).toEqual(
        Array.from({ length: 10 }, () => expect.objectContaining({ kind: 'done' })),
      )
      abort.abort()
      expect((await ended).kind).toBe('cancelled')
    })
  })

  describe('a graph that cannot be loaded', () => {
    it('RUN-35: does not affect the others, and is served once a later host can load it', async () => {
      const folder = await newFolder()
      const whole = await readDeploymentFile(FIXTURES_OF[language], {})
      const tokens = whole.graphs.find(({ graph_id }) => graph_id === 'tokens')
      const later = join(folder, language === 'python' ? 'later.py' : 'later.mjs')
      await writeFile(later, laterModule(tokens?.file ?? '', join(folder, 'there')))
      const { hosts, run } = await open({ tryAgainMs: 0 })
      const broken = { ...EMPTY_ENTRY, graph_id: 'later', file: later, language }
      hosts.reload({ ...whole, graphs: [...whole.graphs, broken] })
      await hosts.ready()
      const kind = language === 'python' ? 'Exception' : 'Error'
      const message = `Graph "later" cannot be loaded: ${later}:2: ${kind}: what it needs is not there`
      const unavailableOf = (id: string) =>
        hosts.graphs().find(({ graph_id }) => graph_id === id)?.unavailable
      expect([unavailableOf('later'), unavailableOf('tokens')]).toEqual([message, null])
      await expectAlive()
      const { end } = await run('later', { tokens: 1 })
      expect(end).toMatchObject({ kind: 'failed', error: 'GraphLoadError', message, retryable: false })
      await writeFile(join(folder, 'there'), '')
      await until('a later host can load it', async () => {
        const { end } = await run('later', { tokens: 1 })
        return end.kind === 'done'
      })
      expect(unavailableOf('later')).toBeNull()
    })
  })

  describe('user code that takes too much memory', () => {
    it.skipIf(of === 'python')('is the cause if it was the only run and V8 ran out of memory', async () => {
      const file: DeploymentFile = await readDeploymentFile(FIXTURES_OF[language], {})
      const env = { NODE_OPTIONS: '--max-old-space-size=150' }
      const { run } = await open({ file: { ...file, env } })
      const { end } = await run('hostile', { act: 'oom' })
      expect(end).toMatchObject({ kind: 'lost', culprit: true, message: 'The graph host ran out of memory.' })
      expect(end).toMatchObject({ error: 'OutOfMemory' })
      await expectAlive()
    })

    it.skipIf(process.platform !== 'linux')(
      'P-24: is ended when its memory outside of the heap exceeds the bound; a neighbour is retried',
      async () => {
        const { hostile, neighbour } = await beside('buffers', { maxBytes: 400 << 20 })
        // It is not known which of the two runs is the cause. Each is executed alone the next time.
        for (const end of [hostile, neighbour])
          expect(end).toMatchObject({ kind: 'lost', culprit: false, error: 'OutOfMemory' })
        const { end } = await (bench as HostBench).run('hostile', { act: 'buffers' })
        expect(end).toMatchObject({ kind: 'lost', culprit: true, error: 'OutOfMemory' })
        expect(end).toMatchObject({
          message: expect.stringMatching(/used \d+ MiB of memory; it may use 400\./),
        })
        await expectAlive()
      },
    )
  })

  describe('signals that Ctrl-C and systemd send to the server and its children alike', () => {
    it('RUN-33: are ignored by graph hosts, since the server lets runs finish', async () => {
      const { job, hosts } = await open({ maxHosts: 1 })
      await hosts.ready()
      const gate = await newGate()
      const { ended } = await begin(await job('hostile', { act: 'until', mark: gate.file }))
      for (const pid of hosts.pids()) for (const signal of ['SIGINT', 'SIGTERM']) process.kill(pid, signal)
      await gate.open()
      expect(await ended).toMatchObject({ kind: 'done' })
    })
  })

  describe('other faults of user code', () => {
    it.skipIf(of === 'python')(
      'an uncaught exception fails its run; the host retires when its other runs are done',
      async () => {
        const { hostile, neighbour, pid } = await beside('throw_later')
        expect(hostile).toMatchObject({ kind: 'failed', error: 'Error', message: 'nobody catches this' })
        expect(neighbour).toMatchObject({ kind: 'done' })
        await expectAlive()
        expect((bench as HostBench).hosts.pids()).not.toContain(pid)
      },
    )

    it('an unhandled rejection does not affect other runs', async () => {
      const { hostile, neighbour } = await beside('reject_later')
      expect([hostile.kind, neighbour.kind]).toEqual(['done', 'done'])
    })

    it('a state that is not JSON fails its run', async () => {
      const { hostile, neighbour } = await beside('cycle')
      expect(hostile).toMatchObject({ kind: 'failed', error: 'TypeError' })
      expect(neighbour.kind).toBe('done')
    })

    it('CANCEL-6: a node that ignores the cancel neither delays it nor writes to the state afterwards', async () => {
      const { job, hosts, run } = await open({ maxHosts: 1 })
      const abort = new AbortController()
      const late = await job('hostile', { act: 'late' })
      const end = await hosts.run(
        late,
        {
          items: (items) => items.some(({ data }) => data.includes('"before"')) && abort.abort(),
          trace: () => undefined,
        },
        abort.signal,
      )
      expect(end).toMatchObject({ kind: 'cancelled', state: { next: ['misbehave'] } })
      // This run takes longer than the node of the first.
      await run('hostile', { act: 'wait' })
      const config = { configurable: { thread_id: late.run.thread_id } }
      const { body } = await hosts.call(late.tenant, {
        name: 'state',
        graph_id: 'hostile',
        config,
        subgraphs: false,
      })
      expect(JSON.parse(body)).toMatchObject({ values: { log: 'before' }, next: ['misbehave'] })
    })
  })

  describe('graphs that cannot be loaded', () => {
    it('report the reason, fail the runs that need them, and work again once they are repaired', async () => {
      const folder = await newFolder()
      const name = language === 'python' ? 'broken.py' : 'broken.mjs'
      const text = language === 'python' ? 'graph = missing.name' : 'export const graph = missing.name'
      await writeFile(join(folder, name), text)
      await writeFile(
        join(folder, 'langgraph.json'),
        JSON.stringify({ graphs: { tokens: `./${name}:graph` } }),
      )
      const { hosts, run } = await open()
      const whole = await readDeploymentFile(FIXTURES_OF[language], {})
      hosts.reload(await readDeploymentFile(join(folder, 'langgraph.json'), {}))
      await expect(hosts.ready()).rejects.toMatchObject({
        message: expect.stringMatching(/missing'? is not defined/),
      })
      const failed = await run('tokens', {})
      expect(failed.end).toMatchObject({ kind: 'failed', message: expect.stringContaining(name) })
      hosts.reload(whole)
      await expectAlive()
    })
  })

  describe('reloaded graphs', () => {
    it('again before they are loaded fail no waiting run', async () => {
      const { hosts, job, execute } = await open()
      const file = await readDeploymentFile(FIXTURES_OF[language], {})
      const claimed = await job('tokens', { tokens: 1 })
      hosts.reload(file)
      const executed = execute(claimed)
      hosts.reload(file)
      hosts.reload(file)
      expect((await executed).end).toMatchObject({ kind: 'done' })
    })

    it('serve new runs beside an earlier one that does not end', async () => {
      const { hosts, job } = await open({ maxHosts: 1 })
      const [old] = hosts.pids()
      const cancel = new AbortController()
      const { ended } = await begin(await job('hostile', { act: 'ignore' }), cancel.signal)
      hosts.reload(await readDeploymentFile(FIXTURES_OF[language], {}))
      await expectAlive()
      expect(hosts.pids()).toContain(old)
      cancel.abort()
      expect(await ended).toMatchObject({ kind: 'cancelled' })
      await until('the old host has ended', () => !hosts.pids().includes(old ?? 0))
    })
  })
}
