import { vi } from 'vitest'
import { ingestLogKills } from '../../support/faults/kill/ingest-log-kills.ts'
import { LONG_MS } from '../../support/campaign.ts'

// Each round kills a server, starts it again and waits until it has caught up.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

ingestLogKills(20)
