import { randomUUID } from 'node:crypto'
import { connect } from 'node:net'
import { emptyCheckpoint, uuid6 } from '@langchain/langgraph-checkpoint'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { systemClock } from '../../../src/base/clock.ts'
import { createLogger } from '../../../src/base/log.ts'
import { type BrokerConnection, connectBroker } from '../../../src/graph/broker/broker-connection.ts'
import type { BrokerGrant } from '../../../src/graph/broker/storage-broker.ts'
import { startStorageBroker, type StorageBroker } from '../../../src/graph/broker/storage-broker.ts'
import { encodeFrame } from '../../../src/graph/pool/channel.ts'
import type { Claim, RunStore } from '../../../src/runs/run-store.ts'
import {
  createBrokeredRowStore,
  createBrokeredStore,
} from '../../../src/storage/sql/broker/brokered-storage.ts'
import { createCheckpointersOn } from '../../../src/storage/sql/checkpoints/checkpointer.ts'
import type { Database } from '../../../src/storage/sql/driver/database.ts'
import { migrate } from '../../../src/storage/sql/driver/migrate.ts'
import { RUN_MIGRATIONS } from '../../../src/storage/sql/driver/open-run-database.ts'
import { openSqlite } from '../../../src/storage/sql/driver/sqlite.ts'
import { createRunStore } from '../../../src/storage/sql/runs/run-store.ts'
import { endOf, started, TENANT } from '../../support/runs/run-store.ts'
import { operationsOf } from '../../support/stores/broker.ts'

const OTHER = { workspace_id: TENANT.workspace_id, deployment_id: 'other' }
/** Lists in lists. */
const nested = (depth: number): unknown => (depth === 0 ? 0 : [nested(depth - 1)])
const META = { source: 'loop' as const, step: 0, parents: {} }

describe('P-25: the storage broker', () => {
  let database: Database
  let store: RunStore
  let claim: Claim
  let broker: StorageBroker
  const connections: BrokerConnection[] = []
  beforeEach(async () => {
    database = openSqlite(':memory:')
    await migrate(database, RUN_MIGRATIONS)
    store = createRunStore(database, systemClock)
    claim = await started(store, randomUUID())
    broker = await startStorageBroker(createLogger({ level: 'silent' }))
  })
  afterEach(async () => {
    for (const connection of connections.splice(0)) connection.close()
    await broker.close()
    await database.close()
  })
  const hostOf = async (
    tenant: typeof TENANT,
    grant: BrokerGrant = broker.grant(operationsOf(database, tenant)),
  ) => {
    let lost = (): void => undefined
    const ended = new Promise<void>((resolve) => (lost = resolve))
    const connection = await connectBroker(grant.place, lost)
    connections.push(connection)
    const saver = createCheckpointersOn(createBrokeredRowStore(connection.request)).open(tenant, claim)
    return { grant, connection, ended, saver, items: createBrokeredStore(connection.request) }
  }
  const config = () => ({ configurable: { thread_id: claim.thread_id, checkpoint_ns: '' } })
  const checkpoint = () => {
    const id = uuid6(0)
    return { ...emptyCheckpoint(), id, channel_values: { n: id }, channel_versions: { n: 1 } }
  }

  it('HOST-18: stores values, reads them back, and refuses writes of a run that has ended', async () => {
    const { saver } = await hostOf(TENANT)
    const one = checkpoint()
    await saver.put(config(), one, META, { n: 1 })
    expect((await saver.getTuple(config()))?.checkpoint.channel_values).toEqual(one.channel_values)
    await store.finish(claim, endOf('success'))
    await expect(saver.put(config(), checkpoint(), META, { n: 1 })).rejects.toMatchObject({
      code: 'conflict',
    })
  })

  it.each([
    ['a head of 3 MiB', encodeFrame({ op: 'get', id: 1, x: 'x'.repeat(3 << 20) })],
    ['a deep head', encodeFrame({ op: 'get', id: 1, x: nested(2_000) })],
    ['a frame of 1 GiB', Buffer.from([0, 0, 0, 0x40, 10, 0, 0, 0])],
    ['no frame', Buffer.from('GET / HTTP/1.1\r\n\r\n')],
  ])('D-64: a host that sends %s loses its connection, and no other host does', async (_what, bytes) => {
    const { place } = broker.grant(operationsOf(database, TENANT))
    const socket = connect(place.socket)
    socket.on('error', () => undefined)
    socket.write(encodeFrame({ op: 'open', token: place.token }))
    socket.write(bytes)
    await new Promise((resolve) => socket.once('close', resolve))
    const { saver } = await hostOf(TENANT)
    await saver.put(config(), checkpoint(), META, { n: 1 })
  })

  it('D-64: a text that the server reads may not be large or deep', async () => {
    const { connection } = await hostOf(TENANT)
    const operations = (text: string) => connection.request('store_batch', { body: {}, parts: [text] })
    await expect(operations(`[${' '.repeat(5 << 20)}]`)).rejects.toMatchObject({ code: 'body_too_large' })
    await expect(operations(`[${'['.repeat(5_000)}`)).rejects.toMatchObject({ code: 'invalid_request' })
  })

  it("gives nothing of another deployment's threads, and stores nothing in them", async () => {
    const { saver } = await hostOf(TENANT)
    await saver.put(config(), checkpoint(), META, { n: 1 })
    const count = async () => (await database.query('SELECT checkpoint_id FROM checkpoints')).length
    const other = await hostOf(OTHER)
    expect(await other.saver.getTuple(config())).toBeUndefined()
    for await (const found of other.saver.list({ configurable: {} })) expect(found).toBeUndefined()
    await expect(other.saver.put(config(), checkpoint(), META, { n: 1 })).rejects.toMatchObject({
      code: 'conflict',
    })
    // The broker ignores a tenant in the request.
    const answer = await other.connection.request('list', {
      body: { ...config().configurable, ...TENANT },
      parts: [],
    })
    expect(answer.body).toEqual({ rows: [] })
    expect(await count()).toBe(1)
  })

  it('keeps the long-term memories of deployments apart', async () => {
    const [one, other] = [await hostOf(TENANT), await hostOf(OTHER)]
    await one.items.put(['facts'], 'a', { n: 1 })
    expect((await one.items.get(['facts'], 'a'))?.createdAt).toBeInstanceOf(Date)
    expect((await one.items.search(['facts'])).map(({ value }) => value)).toEqual([{ n: 1 }])
    expect(await one.items.listNamespaces({ prefix: ['facts'] })).toEqual([['facts']])
    expect(await other.items.get(['facts'], 'a')).toBeNull()
    await one.items.delete(['facts'], 'a')
    expect(await one.items.get(['facts'], 'a')).toBeNull()
  })

  it('HOST-17: ends connections with a wrong, a revoked or a used token without an answer', async () => {
    const { grant, ended } = await hostOf(TENANT)
    const second = await hostOf(TENANT, grant)
    await second.ended
    await expect(second.connection.request('list', { body: {}, parts: [] })).rejects.toMatchObject({
      code: 'store_unavailable',
    })
    grant.revoke()
    await ended
    await (await hostOf(TENANT, grant)).ended
    await (await hostOf(TENANT, { ...grant, place: { ...grant.place, token: 'guess' } })).ended
  })

  it('ends a connection that sends a large frame before its token, or a request without one', async () => {
    const { grant } = await hostOf(TENANT)
    const frames = [
      encodeFrame({ op: 'open', token: 'x'.repeat(100_000) }),
      encodeFrame({ op: 'list', id: 1 }),
    ]
    for (const frame of frames) {
      const socket = connect(grant.place.socket)
      let received = 0
      socket.on('data', (chunk: Buffer) => (received += chunk.length)).on('error', () => undefined)
      socket.write(frame)
      await new Promise((resolve) => socket.once('close', resolve))
      expect(received).toBe(0)
    }
  })

  it('refuses what is not a request, and goes on', async () => {
    const { connection, saver } = await hostOf(TENANT)
    const bad: [Parameters<BrokerConnection['request']>[0], Record<string, unknown>, string[]][] = [
      ['get', { thread_id: 1, checkpoint_ns: '' }, []],
      ['get', { thread_id: 't', checkpoint_ns: '', values: 'all' }, []],
      ['marks', { thread_id: 't', limit: 'many' }, []],
      ['put', { thread_id: 't', lease: null, checkpoints: [{}], blobs: [], writes: [] }, []],
      ['put', { thread_id: 't', lease: null, checkpoints: [], blobs: [], writes: [] }, ['extra']],
      ['put_writes', { thread_id: 't', lease: { run_id: 1 }, writes: [] }, []],
      ['store_batch', {}, ['{']],
      ['store_batch', {}, ['[{"namespace":[1],"key":"k"}]']],
      ['constructor' as 'get', {}, []],
    ]
    for (const [op, body, parts] of bad) {
      const refusal = await connection.request(op, { body, parts }).then(
        () => 'stored',
        (error: { code: string }) => error.code,
      )
      expect([op, refusal]).toEqual([op, 'invalid_request'])
    }
    expect(await saver.getTuple(config())).toBeUndefined()
  })

  it('answers more requests than it reads at a time', async () => {
    const { connection } = await hostOf(TENANT)
    const body = { thread_id: claim.thread_id, lease: { run_id: claim.run_id, token: claim.token } }
    const writes = [
      { checkpoint_ns: '', checkpoint_id: 'c', task_id: 't', idx: 0, written_at: 1, channel: 'n' },
    ]
    const value = JSON.stringify('x'.repeat(120_000))
    const answers = Array.from({ length: 300 }, () =>
      connection.request('put_writes', {
        body: { ...body, writes: writes.map((write) => ({ ...write, type: 'json' })) },
        parts: [value],
      }),
    )
    expect(await Promise.all(answers)).toHaveLength(300)
  })
})
