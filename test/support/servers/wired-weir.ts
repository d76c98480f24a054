import { temporaryDir } from '../stores/clickhouse/embedded-clickhouse.ts'
import { startProxiedStore } from '../faults/stores/proxied-store.ts'
import { startRedis } from '../stores/redis.ts'
import { type Link, makeNamespace } from '../faults/proxies/namespace.ts'
import { startTcpProxy, type TcpProxy } from '../faults/proxies/tcp.ts'
import { startWeir, type WeirProcess } from './weir-process.ts'

/** The stores, each with its names in the health report. */
export const STORES = { clickhouse: ['clickhouse'], sql: ['sql', 'runs'], redis: ['redis'] }
export type Store = keyof typeof STORES

/** A server, and for each store a switch that disturbs the connection to it. */
export interface WiredWeir {
  readonly weir: WeirProcess
  readonly wires: ReadonlyMap<Store, Wire>
  /** The server's data directory. */
  readonly dir: string
  stop(): Promise<void>
}

export type Wire = Pick<TcpProxy, 'set'>

interface Wiring {
  /**
   * Connects the store at this port of 127.0.0.1. Returns the address for the server, and the switch that disturbs the
   * connection.
   */
  wire(store: Store, port: number): Promise<{ host: string; port: number; wire: Wire }>
  env: Readonly<Record<string, string>>
  /** The beginning of the server's command line; it executes the rest. */
  prefix: readonly string[]
  close(): Promise<void>
}

/** Connects through a proxy in front of each store. */
export async function wireByProxies(): Promise<Wiring> {
  const proxies: TcpProxy[] = []
  return {
    async wire(_store, port) {
      const proxy = await startTcpProxy(port)
      proxies.push(proxy)
      return { host: '127.0.0.1', port: proxy.port, wire: proxy }
    },
    env: {},
    prefix: [],
    async close() {
      for (const proxy of proxies) await proxy.close()
    },
  }
}

/** Runs the server in a network namespace, with a link to each store and one link for its clients. */
export async function wireByNamespace(): Promise<Wiring> {
  const stores = Object.keys(STORES) as Store[]
  const namespace = await makeNamespace(stores.length + 1)
  const proxies: TcpProxy[] = []
  const linkAt = (index: number): Link => {
    const link = namespace.links[index]
    if (link === undefined) throw new RangeError(`no link ${index}`)
    return link
  }
  return {
    async wire(store, port) {
      const link = linkAt(stores.indexOf(store))
      const proxy = await startTcpProxy(port, link.here)
      proxies.push(proxy)
      return { host: link.here, port: proxy.port, wire: link }
    },
    env: { HOST: linkAt(stores.length).there },
    prefix: namespace.prefix,
    async close() {
      for (const proxy of proxies) await proxy.close()
      await namespace.remove()
    },
  }
}

/** Starts a server with a ClickHouse, a Redis and the Postgres database of this URL. */
export async function startWiredWeir(
  databaseUrl: string,
  makeWiring: () => Promise<Wiring> = wireByProxies,
): Promise<WiredWeir> {
  const wiring = await makeWiring()
  const wires = new Map<Store, Wire>()
  const wired = async (store: Store, url: string): Promise<string> => {
    const through = new URL(url)
    const { host, port, wire } = await wiring.wire(store, Number(through.port))
    wires.set(store, wire)
    through.hostname = host
    through.port = String(port)
    return through.href
  }
  const [engine, redis, dir] = await Promise.all([startProxiedStore(), startRedis(), temporaryDir()])
  const env = {
    CLICKHOUSE_URL: await wired('clickhouse', engine.newUrl()),
    DATABASE_URL: await wired('sql', databaseUrl),
    REDIS_URL: await wired('redis', await redis.url()),
    GRAPHS: 'test/fixtures/run-graphs/langgraph.json',
    DEPLOYMENT_NAME: 'd',
    ...wiring.env,
  }
  const weir = await startWeir(dir.dir, env, [], undefined, wiring.prefix)
  return {
    weir,
    wires,
    dir: dir.dir,
    async stop() {
      for (const wire of wires.values()) await wire.set({ kind: 'pass' })
      await weir.kill()
      await wiring.close()
      await Promise.all([engine.close(), redis.stop()])
      await dir.remove()
    },
  }
}

/** The stores for which health reports a problem. */
export async function problemsOf(weir: WeirProcess, timeoutMs: number): Promise<string[]> {
  const answer = await weir.fetch('/ok?check_db=1', { signal: AbortSignal.timeout(timeoutMs) })
  const { problems = {} } = (await answer.json()) as { problems?: object }
  return Object.keys(problems).filter((name) => name !== 'disk')
}
