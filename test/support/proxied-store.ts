import { temporaryDir, startTestClickHouse } from './embedded-clickhouse.ts'
import { type FaultProxy, startFaultProxy } from './fault-proxy.ts'

/** A ClickHouse of the test's own with a fault proxy in front. */
export interface ProxiedStore {
  readonly proxy: FaultProxy
  /** Value for CLICKHOUSE_URL. */
  readonly url: string
  close(): Promise<void>
}

/** Starts an engine on a new folder, and the proxy. */
export async function startProxiedStore(): Promise<ProxiedStore> {
  const { dir, remove } = await temporaryDir()
  const engine = await startTestClickHouse(dir)
  const proxy = await startFaultProxy({ target: engine.url })
  return {
    proxy,
    url: proxy.url.replace('//', `//${engine.username}:${engine.password}@`),
    async close() {
      await proxy.close()
      await engine.stop()
      await remove()
    },
  }
}
