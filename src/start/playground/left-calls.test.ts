import { expect, it, onTestFinished } from 'vitest'
import { createLogger } from '../../base/log.ts'
import type { IngestHealth } from '../../ingest/ingester.ts'
import { watchLeftCalls } from './left-calls.ts'

function looksWhile(oldest_waiting_at: string | null): boolean {
  let looks = 0
  const left = { end: async () => ++looks }
  const ingester = { health: () => ({ oldest_waiting_at }) as IngestHealth }
  onTestFinished(watchLeftCalls(left, ingester, createLogger({ level: 'silent' })))
  return looks > 0
}

it('left calls are looked for while traces come in, and not while a server is behind in storing them', () => {
  expect(looksWhile(null)).toBe(true)
  expect(looksWhile(new Date().toISOString())).toBe(true)
  expect(looksWhile(new Date(Date.now() - 31_000).toISOString())).toBe(false)
})
