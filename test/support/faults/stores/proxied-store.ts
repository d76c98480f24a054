import type { EmbeddedClickHouse } from '../../../../src/storage/clickhouse/embedded/start.ts'
import { temporaryDir, startTestClickHouse } from '../../stores/clickhouse/embedded-clickhouse.ts'
import { type FaultProxy, startFaultProxy } from '../proxies/fault.ts'

/** A ClickHouse for one test file, behind a fault proxy. */
export interface ProxiedStore {
  readonly proxy: FaultProxy
  /** The engine's own address. */
  readonly engine: Pick<EmbeddedClickHouse, 'url' | 'username' | 'password'>
  /** A CLICKHOUSE_URL with a new database, because a database belongs to one data directory. */
  newUrl(): string
  close(): Promise<void>
}

/** Starts an engine on a new folder, and the proxy. */
export async function startProxiedStore(): Promise<ProxiedStore> {
  const { dir, remove } = await temporaryDir()
  const engine = await startTestClickHouse(dir)
  const proxy = await startFaultProxy({ target: engine.url })
  let databases = 0
  return {
    proxy,
    engine,
    newUrl() {
      const url = new URL(`/weir_${++databases}`, proxy.url)
      return url.href.replace('//', `//${engine.username}:${engine.password}@`)
    },
    async close() {
      await proxy.close()
      await engine.stop()
      await remove()
    },
  }
}
