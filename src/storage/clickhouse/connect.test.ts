import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
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
async function served(
  ...ways: RequestListener[]
): Promise<{ db: ClickHouse; url: string; left: RequestListener[] }> {
  const server = createServer((req, res) => {
    const way = ways.shift() ?? reset
    way(req, res)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const url = `http://127.0.0.1:${port}`
  const db = connectClickHouse({ url, database: 'weir' })
  onTestFinished(async () => {
    await db.close()
    server.closeAllConnections()
    server.close()
  })
  return { db, url, left: ways }
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

it('an insert that is refused unread leaves its connection to others', async () => {
  const page = '<h1>413</h1>'
  const head = `HTTP/1.1 413 Payload Too Large\r\nContent-Length: ${page.length}`
  const proxy = createTcpServer((socket) => {
    socket.once('data', () => socket.write(`${head}\r\n\r\n${page}`) && socket.pause())
    socket.on('error', () => undefined)
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  const { port } = proxy.address() as AddressInfo
  const db = connectClickHouse({ url: `http://127.0.0.1:${port}`, database: 'weir', maxConnections: 1 })
  onTestFinished(async () => {
    await db.close()
    proxy.close()
  })
  // Larger than what the buffers of a socket hold.
  const body = new Uint8Array(16 * 1024 * 1024)
  for (let tries = 0; tries < 3; tries++)
    await expect(db.insert({ table: 't', columns: ['n'], body })).rejects.toMatchObject({
      code: 'store_misconfigured',
    })
})

it('a request that waits for a connection has a time limit', async () => {
  const hang: RequestListener = (req) => void req.resume()
  const { url } = await served(hang, hang)
  const db = connectClickHouse({ url, database: 'weir', maxConnections: 1, maxExecutionSeconds: 0.1 })
  onTestFinished(() => db.close())
  const late = { ...AWAY, message: 'ClickHouse did not answer within 0.2 s.' }
  const body = new Uint8Array([1])
  const asked = [
    db.rows('SELECT 1'),
    db.command('DROP TABLE t'),
    db.insert({ table: 't', columns: ['n'], body }),
  ]
  const ends = await Promise.allSettled(asked)
  expect(ends).toMatchObject(asked.map(() => ({ status: 'rejected', reason: late })))
})

it('a request has a time limit while its answer is read', async () => {
  const { url } = await served((req, res) => {
    req.resume()
    const writing = setInterval(() => res.write(ROW), 10)
    res.once('close', () => clearInterval(writing))
  })
  const db = connectClickHouse({ url, database: 'weir', maxExecutionSeconds: 0.1 })
  onTestFinished(() => db.close())
  await expect(db.rowBinary('SELECT 1')).rejects.toMatchObject(AWAY)
})
