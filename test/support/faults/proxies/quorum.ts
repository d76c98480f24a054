import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { insertedTable } from '../../../../src/storage/clickhouse/cluster/insert-turns.ts'
import { sqlOf } from './statement.ts'

/** A proxy before the engine with the rule of a cluster of replicas with `insert_quorum_parallel=0`. */
export interface QuorumProxy {
  readonly url: string
  /** Numbers of inserts. */
  readonly counts: { readonly done: number; readonly refused: number }
  close(): Promise<void>
}

const BUSY =
  'Code: 286. DB::Exception: Another quorum insert has been already started. (UNSATISFIED_QUORUM_FOR_PREVIOUS_WRITE) (version 26.7.2.1 (official build))\n'

/**
 * Starts the proxy. An insert takes `holdMs` at least, the time of its quorum. Meanwhile every other insert into the
 * same table is refused at once, with ClickHouse's own error.
 */
export async function startQuorumProxy(target: string, holdMs: number): Promise<QuorumProxy> {
  const counts = { done: 0, refused: 0 }
  const held = new Set<string>()

  async function handle(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const body = await buffer(req)
    const table = insertedTable(sqlOf(req, body))
    if (table === undefined) return await answerWith(res, await forward(target, req, body))
    if (held.has(table)) {
      counts.refused += 1
      return void res.writeHead(500, { 'X-ClickHouse-Exception-Code': '286' }).end(BUSY)
    }
    held.add(table)
    const [answer] = await Promise.all([forward(target, req, body), delay(holdMs)]).finally(() =>
      held.delete(table),
    )
    counts.done += 1
    await answerWith(res, answer)
  }

  const server = createServer({ keepAliveTimeout: 60_000 }, (req, res) => {
    handle(req, res).catch(() => res.destroy())
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    counts,
    async close() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

async function forward(target: string, req: IncomingMessage, body: Buffer): Promise<IncomingMessage> {
  const { 'transfer-encoding': _chunked, connection: _own, ...headers } = req.headers
  const sent = { ...headers, 'content-length': body.length }
  const onward = request(new URL(req.url ?? '/', target), { method: req.method, headers: sent })
  onward.end(body)
  const [answer] = (await once(onward, 'response')) as [IncomingMessage]
  return answer
}

async function answerWith(res: ServerResponse, answer: IncomingMessage): Promise<void> {
  res.writeHead(answer.statusCode ?? 502, answer.headers)
  await pipeline(answer, res)
}
