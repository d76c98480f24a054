import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from '../../support/eventually.ts'
import type { Line } from '../../support/faults/proxies/tcp.ts'
import { startLoad } from '../../support/servers/load.ts'
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
} from '../../support/servers/wired-weir.ts'

const REASON = withoutPostgres() + withoutRedis()
const THREADS = '/deployments/d/threads'
/** A check of a store may take 2 s; the machine may be busy. */
const ANSWER_MS = 15_000
const RUNS = 5

/** A fault of the connections of some stores. */
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

describe.skipIf(REASON !== '')(`a network that loses what goes to its stores, under load${REASON}`, () => {
  const databases = postgresDatabases()
  let wired: WiredWeir
  beforeAll(async () => {
    wired = await startWiredWeir(await databases.take())
  })
  afterAll(() => wired.stop())

  it.each(PARTITIONS)(
    '$name: health reports it, no acknowledged trace or run is lost, and all goes on by itself',
    async ({ name, stores, line }) => {
      const { weir, wires, dir } = wired
      const names = stores.flatMap((store) => STORES[store])
      const input = { file: join(dir, 'beats'), beats: 1 }
      const setAll = (next: Line): Promise<unknown> =>
        Promise.all(stores.map(async (store) => await wires.get(store)?.set(next)))
      await eventually(async () => expect(await problemsOf(weir, ANSWER_MS)).toEqual([]))
      const load = startLoad({ url: weir.url, session_name: name, pauseMs: 50 })
      const ids = await Promise.all(
        Array.from({ length: RUNS }, async () => {
          const { thread_id } = await weir.json<{ thread_id: string }>(THREADS, jsonBody('POST', {}))
          return thread_id
        }),
      )
      /** Creates a run on each thread; resolves with the runs that were acknowledged. */
      const create = async (): Promise<string[]> => {
        const answers = await Promise.all(
          ids.map((id) =>
            weir.fetch(
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
          answers[at]?.status === 200 ? [`${ids[at]}/runs/${run_id}`] : [],
        )
      }
      const runs = await create()
      await load.reached(20)
      await setAll(line)
      const creating = create()
      const found = await problemsOf(weir, ANSWER_MS)
      expect((await weir.fetch('/ok')).status).toBe(200)
      await setAll({ kind: 'pass' })
      expect(found.toSorted()).toEqual(names.toSorted())
      runs.push(...(await creating))
      const before = load.traces.length
      await load.reached(before + 20)
      await load.stop()
      expect(load.refusals.filter(({ status }) => status !== 503)).toEqual([])
      await eventually(async () => {
        for (const path of runs)
          expect(await weir.json<{ status: string }>(`${THREADS}/${path}`)).toMatchObject({
            status: 'success',
          })
      })
      await weir.drained()
      expect(await storedFaults(weir, name, load.traces)).toEqual([])
    },
  )
})
