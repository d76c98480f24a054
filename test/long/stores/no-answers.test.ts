import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { eventually } from '../../support/eventually.ts'
import { postgresDatabases } from '../../support/stores/sql/postgres-databases.ts'
import { withoutPostgres } from '../../support/stores/sql/postgres.ts'
import { withoutRedis } from '../../support/stores/redis.ts'
import {
  problemsOf,
  startWiredWeir,
  STORES,
  type Store,
  type WiredWeir,
} from '../../support/servers/wired-weir.ts'
import { LONG_MS } from '../../support/campaign.ts'

// A store gets up to a million rows, or is away for a while.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

const REASON = withoutPostgres() + withoutRedis()
/** A check of a store may take 2 s; the rest is for a busy machine. */
const ANSWER_MS = 10_000

describe.skipIf(REASON !== '')(`a connection to a store on which no bytes arrive any more${REASON}`, () => {
  const databases = postgresDatabases()
  let wired: WiredWeir
  beforeAll(async () => {
    wired = await startWiredWeir(await databases.take())
  })
  afterAll(() => wired.stop())

  it.each(Object.entries(STORES))(
    '%s: health reports it within seconds, /ok answers, and everything works afterwards',
    async (store, names) => {
      const { weir, wires } = wired
      const wire = wires.get(store as Store)
      await eventually(async () => expect(await problemsOf(weir, ANSWER_MS)).toEqual([]))
      await wire?.set({ kind: 'swallow', only: 'answers' })
      const found = await problemsOf(weir, ANSWER_MS)
      expect((await weir.fetch('/ok')).status).toBe(200)
      await wire?.set({ kind: 'pass' })
      expect(found).toEqual(names)
      await eventually(async () => expect(await problemsOf(weir, ANSWER_MS)).toEqual([]))
    },
  )
})
