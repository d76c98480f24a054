import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { nextLookMs, PATIENCE_MS } from '../../eventually.ts'
import { createLogger } from '../../../../src/base/log.ts'
import {
  type EmbeddedClickHouse,
  startEmbeddedClickHouse,
} from '../../../../src/storage/clickhouse/embedded/start.ts'

/** Makes a new folder below the system's temporary folder; also returns the function that removes it. */
export async function temporaryDir(): Promise<{ dir: string; remove: () => Promise<void> }> {
  const dir = await mkdtemp(join(tmpdir(), 'weir-test-'))
  return { dir, remove: () => rm(dir, { recursive: true, force: true, maxRetries: 5 }) }
}

/** Starts the real engine on the folder, without console output. */
export function startTestClickHouse(dataDir: string, signal?: AbortSignal): Promise<EmbeddedClickHouse> {
  return startEmbeddedClickHouse({
    dataDir,
    logger: createLogger({ level: 'silent' }),
    ...(signal !== undefined && { signal }),
  })
}

/** Waits until the condition holds; rejects after `ms`. */
export async function until(
  what: string,
  condition: () => Promise<boolean> | boolean,
  ms = PATIENCE_MS,
): Promise<void> {
  const started = Date.now()
  while (!(await condition())) {
    if (Date.now() > started + ms) throw new Error(`did not happen in ${ms} ms: ${what}`)
    await delay(nextLookMs(started))
  }
}
