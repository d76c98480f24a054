import { describe, it } from 'vitest'
import { hasPostgres } from '../support/postgres.ts'
import { usageRounds } from '../support/usage-rounds.ts'

describe('usage', () => {
  it.skipIf(!hasPostgres())('is exact for 50,000 traces and five deaths (Postgres is not installed)', () =>
    usageRounds(50_000, 5),
  )
})
