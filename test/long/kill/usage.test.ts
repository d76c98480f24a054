import { it } from 'vitest'
import { withoutPostgres } from '../../support/stores/sql/postgres.ts'
import { usageRounds } from '../../support/usage/rounds.ts'

const reason = withoutPostgres()

it.skipIf(reason !== '')(`usage is exact for 50,000 traces and five kills${reason}`, () =>
  usageRounds(50_000, 5),
)
