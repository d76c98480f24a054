import { randomBytes } from 'node:crypto'
import type { EmbeddedClickHouse } from '../../../../src/storage/clickhouse/embedded/start.ts'
import { temporaryDir, startTestClickHouse } from '../../stores/clickhouse/embedded-clickhouse.ts'
import { shared } from '../../servers/shared.ts'
import { type FaultProxy, startFaultProxy } from '../proxies/fault.ts'

/** A ClickHouse behind a fault proxy. */
export interface ProxiedStore {
  readonly proxy: FaultProxy
  /** The engine's own address. */
  readonly engine: Pick<EmbeddedClickHouse, 'url' | 'username' | 'password'>
  /** A CLICKHOUSE_URL with a new database, because a database belongs to one data directory. */
  newUrl(): string
  close(): Promise<void>
}

/** Starts an engine on a new folder, for one test file, and the proxy. */
export async function startProxiedStore(): Promise<ProxiedStore> {
  const { dir, remove } = await temporaryDir()
  const engine = await startTestClickHouse(dir)
  return proxiedStore(engine, async () => {
    await engine.stop()
    await remove()
  })
}

/** Starts a proxy to the engine that all test files share. */
export async function proxySharedStore(): Promise<ProxiedStore> {
  return proxiedStore(await shared('/clickhouse'), async () => undefined)
}

async function proxiedStore(
  engine: ProxiedStore['engine'],
  stop: () => Promise<void>,
): Promise<ProxiedStore> {
  const proxy = await startFaultProxy({ target: engine.url })
  return {
    proxy,
    engine,
    newUrl() {
      const url = new URL(`/weir_${randomBytes(6).toString('hex')}`, proxy.url)
      return url.href.replace('//', `//${engine.username}:${engine.password}@`)
    },
    async close() {
      await proxy.close()
      await stop()
    },
  }
}
