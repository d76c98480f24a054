import { describe, it } from 'vitest'
import { hasPostgres } from '../support/postgres.ts'
import { usageRounds } from '../support/usage-rounds.ts'

describe('usage', () => {
  it.skipIf(!hasPostgres())('is exact with two servers, one of which dies (Postgres is not installed)', () =>
    usageRounds(300, 1),
  )
})
