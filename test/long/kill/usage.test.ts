import { it } from 'vitest'
import { campaign } from '../../support/campaign.ts'
import { withoutPostgres } from '../../support/stores/sql/postgres.ts'
import { usageRounds } from '../../support/usage/rounds.ts'

const reason = withoutPostgres()

const TRACES = campaign(50_000)
const KILLS = campaign(5, 2)

it.skipIf(reason !== '')(`usage is exact for ${TRACES} traces and ${KILLS} kills${reason}`, () =>
  usageRounds(TRACES, KILLS),
)
