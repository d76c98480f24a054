import { vi } from 'vitest'
import { asgiAppTests } from '../../contract/graphs/asgi-app.ts'
import { LONG_MS } from '../../support/campaign.ts'

// Python starts slowly, once for each host.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

asgiAppTests('every case')
