import { temporaryDir } from '../stores/clickhouse/embedded-clickhouse.ts'
import { startProxiedStore } from '../faults/stores/proxied-store.ts'
import { startRedis } from '../stores/redis.ts'
import { startTcpProxy, type TcpProxy } from '../faults/proxies/tcp.ts'
import { startWeir, type WeirProcess } from './weir-process.ts'

/** Stores, with the names under which health reports them. */
export const STORES = { clickhouse: ['clickhouse'], sql: ['sql', 'runs'], redis: ['redis'] }
export type Store = keyof typeof STORES

/** A server whose connections to each store go through a proxy. */
export interface WiredWeir {
  readonly weir: WeirProcess
  readonly wires: ReadonlyMap<Store, TcpProxy>
  /** The server's data directory. */
  readonly dir: string
  stop(): Promise<void>
}

/** Starts a server with a ClickHouse, a Redis and the Postgres database of this URL. */
export async function startWiredWeir(databaseUrl: string): Promise<WiredWeir> {
  const wires = new Map<Store, TcpProxy>()
  const wired = async (store: Store, url: string): Promise<string> => {
    const through = new URL(url)
    const wire = await startTcpProxy(Number(through.port))
    wires.set(store, wire)
    through.port = String(wire.port)
    return through.href
  }
  const [engine, redis, dir] = await Promise.all([startProxiedStore(), startRedis(), temporaryDir()])
  const weir = await startWeir(dir.dir, {
    CLICKHOUSE_URL: await wired('clickhouse', engine.newUrl()),
    DATABASE_URL: await wired('sql', databaseUrl),
    REDIS_URL: await wired('redis', await redis.url()),
    GRAPHS: 'test/fixtures/run-graphs/langgraph.json',
    DEPLOYMENT_NAME: 'd',
  })
  return {
    weir,
    wires,
    dir: dir.dir,
    async stop() {
      for (const wire of wires.values()) await wire.set({ kind: 'pass' })
      await weir.kill()
      for (const wire of wires.values()) await wire.close()
      await Promise.all([engine.close(), redis.stop()])
      await dir.remove()
    },
  }
}

/** The stores of which health reports a problem. */
export async function problemsOf(weir: WeirProcess, timeoutMs: number): Promise<string[]> {
  const answer = await weir.fetch('/ok?check_db=1', { signal: AbortSignal.timeout(timeoutMs) })
  const { problems = {} } = (await answer.json()) as { problems?: object }
  return Object.keys(problems).filter((name) => name !== 'disk')
}
