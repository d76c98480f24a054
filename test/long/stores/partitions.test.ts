import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { campaignSample, LONG_MS } from '../../support/campaign.ts'
import { eventually } from '../../support/eventually.ts'
import { withoutNamespaces } from '../../support/faults/proxies/namespace.ts'
import type { Line } from '../../support/faults/proxies/tcp.ts'
import { type Load, startLoad } from '../../support/servers/load.ts'
import { postgresDatabases } from '../../support/stores/sql/postgres-databases.ts'
import { withoutPostgres } from '../../support/stores/sql/postgres.ts'
import { withoutRedis } from '../../support/stores/redis.ts'
import { storedFaults } from '../../support/traces/stored-traces.ts'
import { jsonBody } from '../../support/servers/weir-process.ts'
import {
  problemsOf,
  startWiredWeir,
  STORES,
  type Store,
  type WiredWeir,
  wireByNamespace,
  wireByProxies,
} from '../../support/servers/wired-weir.ts'

// A store gets up to a million rows, or is away for a while.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

const REASON = withoutPostgres() + withoutRedis()
const THREADS = '/deployments/d/threads'
/** A check of a store may take 2 s; the rest is for a busy machine. */
const ANSWER_MS = 15_000
const RUNS = 5

/** A fault of the connections to some stores. */
interface Partition {
  name: string
  stores: Store[]
  line: Line
}

const ALL = Object.keys(STORES) as Store[]
const PAIRS = ALL.flatMap((one, at) => ALL.slice(at + 1).map((other): Store[] => [one, other]))
const PARTITIONS: Partition[] = [
  ...[...ALL.map((store) => [store]), ...PAIRS].map(
    (stores): Partition => ({ name: stores.join(' and '), stores, line: { kind: 'swallow' } }),
  ),
  ...ALL.map(
    (store): Partition => ({
      name: `only the answers of ${store}`,
      stores: [store],
      line: { kind: 'swallow', only: 'answers' },
    }),
  ),
]
/** Faults that make the connections to all stores slow. */
const SLOW: Partition[] = [
  { name: 'connections that take 100 ms each way', stores: ALL, line: { kind: 'late', ms: 100 } },
  { name: 'connections that lose and repeat', stores: ALL, line: { kind: 'late', ms: 400, every: 10 } },
]

/** Proxies disturb connections. A namespace drops packets, including those that open connections. */
const WAYS = [
  { way: 'proxies', makeWiring: wireByProxies, partitions: PARTITIONS, slow: SLOW, without: '' },
  {
    way: 'a namespace',
    makeWiring: wireByNamespace,
    partitions: campaignSample(PARTITIONS),
    slow: [],
    without: withoutNamespaces(),
  },
]

describe.each(WAYS)('by $way', ({ makeWiring, partitions, slow, without }) => {
  const reason = REASON + without
  describe.skipIf(reason !== '')(`a network that loses what goes to its stores, under load${reason}`, () => {
    const databases = postgresDatabases()
    let wired: WiredWeir
    beforeAll(async () => {
      wired = await startWiredWeir(await databases.take(), makeWiring)
    })
    afterAll(() => wired.stop())

    /** Creates a run on each thread; resolves with the runs that were acknowledged. */
    async function create(threads: readonly string[]): Promise<string[]> {
      const input = { file: join(wired.dir, 'beats'), beats: 1 }
      const answers = await Promise.all(
        threads.map((id) =>
          wired.weir.fetch(
            `${THREADS}/${id}/runs`,
            jsonBody('POST', { assistant_id: 'beats', input, multitask_strategy: 'enqueue' }),
          ),
        ),
      )
      expect(
        answers.map(({ status }) => status).filter((status) => status !== 200 && status !== 503),
      ).toEqual([])
      const made = await Promise.all(answers.map((answer) => answer.json() as Promise<{ run_id: string }>))
      return made.flatMap(({ run_id }, at) =>
        answers[at]?.status === 200 ? [`${threads[at]}/runs/${run_id}`] : [],
      )
    }

    const succeeded = (runs: readonly string[]): Promise<void> =>
      eventually(async () => {
        for (const path of runs)
          expect(await wired.weir.json<{ status: string }>(`${THREADS}/${path}`)).toMatchObject({
            status: 'success',
          })
      })

    /**
     * Sends traces and creates runs before, during and after a fault. `during` is called while the fault lasts, with
     * the pending requests that create runs. It resolves while they are still pending, or waits for them.
     */
    async function goThrough(
      { name, stores, line }: Partition,
      during: (load: Load, creating: Promise<string[]>) => Promise<void>,
    ): Promise<void> {
      const { weir, wires } = wired
      const setAll = (next: Line): Promise<unknown> =>
        Promise.all(stores.map(async (store) => await wires.get(store)?.set(next)))
      await eventually(async () => expect(await problemsOf(weir, ANSWER_MS)).toEqual([]))
      const load = startLoad({ url: weir.url, session_name: name, pauseMs: 50 })
      const threads = await Promise.all(
        Array.from({ length: RUNS }, async () => {
          const { thread_id } = await weir.json<{ thread_id: string }>(THREADS, jsonBody('POST', {}))
          return thread_id
        }),
      )
      const runs = await create(threads)
      await load.reached(20)
      await setAll(line)
      const creating = create(threads)
      try {
        await during(load, creating)
      } finally {
        await setAll({ kind: 'pass' })
      }
      runs.push(...(await creating))
      await load.reached(load.traces.length + 20)
      await load.stop()
      expect(load.refusals.filter(({ status }) => status !== 503)).toEqual([])
      await succeeded(runs)
      await weir.drained()
      // On a busy machine ClickHouse may refuse a read, which the server answers with 503. So the read is repeated.
      expect(await eventually(() => storedFaults(weir, name, load.traces))).toEqual([])
    }

    it.each(partitions)(
      '$name: health reports it, no acknowledged trace or run is lost, and all goes on by itself',
      async (partition) => {
        const down = partition.stores.flatMap((store) => STORES[store]).toSorted()
        await goThrough(partition, async () => {
          // On a busy machine the check of another store may take too long.
          await eventually(async () =>
            expect((await problemsOf(wired.weir, ANSWER_MS)).toSorted()).toEqual(down),
          )
          expect((await wired.weir.fetch('/ok')).status).toBe(200)
        })
      },
    )

    it.each(slow)('$name: traces are taken and runs end meanwhile, and none is lost', async (partition) => {
      await goThrough(partition, async (load, creating) => {
        await load.reached(load.traces.length + 20)
        const runs = await creating
        expect(runs).toHaveLength(RUNS)
        await succeeded(runs)
      })
    })
  })
})
