import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type ClickHouse, connectClickHouse } from './connect.ts'

const AWAY = { name: 'AppError', code: 'store_unavailable' }
const READS = {
  rows: async (db) => await db.rows('SELECT 1 AS one'),
  rowBinary: async (db) => (await db.rowBinary('SELECT 1')).toString(),
  lines: async (db) => await text(await db.lines('SELECT 1')),
} satisfies Record<string, (db: ClickHouse) => Promise<unknown>>
const ROW = '{"one":1}\n'
const ANSWERS = { rows: [{ one: 1 }], rowBinary: ROW, lines: ROW }

const reset: RequestListener = (req) => void req.resume().on('end', () => req.socket.resetAndDestroy())
const closed: RequestListener = (req) => void req.resume().on('end', () => req.socket.destroy())
const answer: RequestListener = (req, res) => void req.resume().on('end', () => res.end(ROW))
const cut: RequestListener = (req, res) => {
  res.writeHead(200, { 'content-length': 1000 })
  res.write(ROW, () => req.socket.resetAndDestroy())
}

/**
 * A server that handles the first request with the first of these listeners, and so on, and a client of this server.
 */
async function served(...ways: RequestListener[]): Promise<{ db: ClickHouse; left: RequestListener[] }> {
  const server = createServer((req, res) => {
    const way = ways.shift() ?? reset
    way(req, res)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const db = connectClickHouse({ url: `http://127.0.0.1:${port}`, database: 'weir' })
  onTestFinished(async () => {
    await db.close()
    server.closeAllConnections()
    server.close()
  })
  return { db, left: ways }
}

describe.each(['rows', 'rowBinary', 'lines'] as const)('a read as %s', (kind) => {
  it.each([
    ['reset', reset],
    ['closed', closed],
  ])('is sent once more when its connection is %s before the answer begins', async (_how, fault) => {
    const { db, left } = await served(fault, answer)
    expect(await READS[kind](db)).toEqual(ANSWERS[kind])
    expect(left).toEqual([])
  })

  it('fails when the second connection is reset too', async () => {
    const { db, left } = await served(reset, reset, answer)
    await expect(READS[kind](db)).rejects.toMatchObject(AWAY)
    expect(left).toEqual([answer])
  })

  it('is not sent again after a part of the answer', async () => {
    const { db, left } = await served(cut, answer)
    await expect(READS[kind](db)).rejects.toThrow()
    expect(left).toEqual([answer])
  })
})

it('a read that its caller has left is not sent again', async () => {
  const leaving = new AbortController()
  const { db, left } = await served((req) => {
    leaving.abort()
    req.socket.resetAndDestroy()
  }, answer)
  await expect(db.rows('SELECT 1', { signal: leaving.signal })).rejects.toMatchObject(AWAY)
  expect(left).toEqual([answer])
})

it('a write is sent once, because it may have taken effect', async () => {
  const { db, left } = await served(reset, reset, answer)
  await expect(db.command('DROP TABLE t')).rejects.toMatchObject(AWAY)
  const body = new Uint8Array([1])
  await expect(db.insert({ table: 't', columns: ['n'], body })).rejects.toMatchObject(AWAY)
  expect(left).toEqual([answer])
})
