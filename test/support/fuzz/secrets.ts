import { expect } from 'vitest'
import type { KnownRecords } from '../servers/known-records.ts'
import type { WeirProcess } from '../servers/weir-process.ts'
import { jsonBody } from '../servers/weir-process.ts'

const SECRETS = 30
const PATH = '/api/v1/workspaces/current/secrets'

/** Stores secrets whose provider's address answers nothing, and adds their names to `records`. */
export async function addSecrets(
  weir: Pick<WeirProcess, 'fetch'>,
  records: Pick<KnownRecords, 'add'>,
): Promise<void> {
  const keys = Array.from({ length: SECRETS }, (_, n) => `FUZZED_${n}`)
  const stored = await weir.fetch(
    PATH,
    jsonBody(
      'POST',
      keys.map((key) => ({ key, value: 'fuzzed', hosts: ['127.0.0.1:9'] })),
    ),
  )
  expect(stored.status).toBe(200)
  for (const key of keys) records.add(PATH, { key, value: 'fuzzed' })
}
