import { expect, it } from 'vitest'
import { AppError } from '../base/errors.ts'
import { createLogger } from '../base/log.ts'
import { claimClickHouse, claimWhenUp } from './own-stores.ts'
import { readConfig } from '../config.ts'
import { type Installation, redisStore } from './installation.ts'
import { eventually } from '../../test/support/eventually.ts'
import { newFolder } from '../../test/support/folder.ts'

const logger = createLogger({ level: 'silent' })

/** An installation whose stores do not answer, and which counts the requests to the stores. */
function unanswered() {
  const claims = { count: 0 }
  const claim = (): Promise<never> => {
    claims.count++
    return Promise.reject(new AppError('store_unavailable'))
  }
  return { claims, claim }
}

it('a start that waits for ClickHouse ends at once when the server stops', async () => {
  const dataDir = await newFolder()
  const config = readConfig({ DATA_DIR: dataDir, CLICKHOUSE_URL: 'http://127.0.0.1:1' })
  const stopping = new AbortController()
  const { claims, claim } = unanswered()
  const connection = { ping: () => Promise.resolve(true) } as never
  const opened = {
    connection,
    ready: Promise.resolve(),
    failure: () => undefined,
    stop: () => Promise.resolve(),
  }
  const claiming = claimClickHouse({ config, logger, stopping: stopping.signal }, opened, { claim })
  await eventually(async () => expect(claims.count).toBe(1))
  const began = performance.now()
  stopping.abort()
  const { ready } = await claiming
  expect(performance.now() - began).toBeLessThan(900)
  expect(claims.count).toBe(1)
  const first = await Promise.race([
    ready.then(() => 'ready'),
    new Promise((end) => setImmediate(end, 'waits')),
  ])
  expect(first).toBe('waits')
})

it('a store that does not answer is not tried again once the server stops', async () => {
  const stopping = new AbortController()
  const { claims, claim } = unanswered()
  const redis = redisStore({ command: () => Promise.resolve(null) })
  const claiming = claimWhenUp({ claim }, redis, stopping.signal)
  await eventually(async () => expect(claims.count).toBe(1))
  stopping.abort()
  expect(await claiming).toBeUndefined()
  expect(claims.count).toBe(1)
})

it('a check of ClickHouse is one statement, since each round trip may take long', async () => {
  const dataDir = await newFolder()
  const config = readConfig({ DATA_DIR: dataDir, CLICKHOUSE_URL: 'http://127.0.0.1:1' })
  const statements: string[] = []
  const rows = async (sql: string) => {
    statements.push(sql)
    return [{ id: 'own' }]
  }
  const connection = { rows, ping: () => Promise.resolve(true) } as never
  const opened = {
    connection,
    ready: Promise.resolve(),
    failure: () => undefined,
    stop: () => Promise.resolve(),
  }
  const claim: Installation['claim'] = async (store) => async () => void (await store.read())
  const parts = { config, logger, stopping: new AbortController().signal }
  const { ready, check } = await claimClickHouse(parts, opened, { claim })
  await ready
  await check()
  expect(statements).toHaveLength(1)
})

it('a check tells why the tables of ClickHouse are not migrated, although it answers', async () => {
  const dataDir = await newFolder()
  const config = readConfig({ DATA_DIR: dataDir, CLICKHOUSE_URL: 'http://127.0.0.1:1' })
  const connection = { rows: async () => [{ one: 1 }], ping: () => Promise.resolve(false) } as never
  let failure: AppError | undefined = new AppError('store_misconfigured')
  const ready = new Promise<void>(() => undefined)
  const opened = { connection, ready, failure: () => failure, stop: () => Promise.resolve() }
  const parts = { config, logger, stopping: new AbortController().signal }
  const { check } = await claimClickHouse(parts, opened, { claim: unanswered().claim })
  await expect(check()).rejects.toBe(failure)
  failure = undefined
  await check()
})
