import { expect, it } from 'vitest'
import { createLogger } from '../../base/log.ts'
import type { IngestHealth } from '../../ingest/ingester.ts'
import { leftCallSweep } from './left-calls.ts'

async function looksWhile(oldest_waiting_at: string | null): Promise<boolean> {
  let looks = 0
  const left = { end: async () => ++looks }
  const ingester = { health: () => ({ oldest_waiting_at }) as IngestHealth }
  const sweep = leftCallSweep(left, ingester, createLogger({ level: 'silent' }))
  await sweep.work(new AbortController().signal)
  return looks > 0
}

it('left calls are looked for while traces come in, and not while a server is behind in storing them', async () => {
  expect(await looksWhile(null)).toBe(true)
  expect(await looksWhile(new Date().toISOString())).toBe(true)
  expect(await looksWhile(new Date(Date.now() - 31_000).toISOString())).toBe(false)
})
