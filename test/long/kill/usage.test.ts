import { it, vi } from 'vitest'
import { campaign, LONG_MS } from '../../support/campaign.ts'
import { withoutPostgres } from '../../support/stores/sql/postgres.ts'
import { usageRounds } from '../../support/usage/rounds.ts'

// Each round kills a server, starts it again and waits until it has caught up.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

const reason = withoutPostgres()

const TRACES = campaign(50_000)
const KILLS = campaign(5, 2)

it.skipIf(reason !== '')(`usage is exact for ${TRACES} traces and ${KILLS} kills${reason}`, () =>
  usageRounds(TRACES, KILLS),
)
