import { beforeAll, describe, expect, vi } from 'vitest'
import { campaignShare, LONG_MS } from '../../support/campaign.ts'
import { useWeir } from '../../support/servers/use-weir.ts'
import { HAS_BROWSER, NO_BROWSER, signIn, useInterface } from '../../support/servers/web-interface.ts'
import { accessibilityTests } from '../../conformance/web/accessibility.ts'
import { docsTests } from './docs.ts'
import { overviewTests } from '../../conformance/web/overview.ts'
import { moreIngestTests } from '../../conformance/web/ingest.ts'
import { mediaTests } from '../../conformance/web/media.ts'
import { morePriceTests } from '../../conformance/web/prices.ts'
import { moreSettingsTests, workspaceTests } from '../../conformance/web/settings.ts'
import { moreTracePageTests } from '../../conformance/web/traces/trace-page.ts'
import { moreUsageTests } from '../../conformance/web/usage.ts'
import { complaintTests } from './complaints.ts'
import { keyboardTests } from './keyboard.ts'
import { morePageTests } from './more-pages.ts'
import { panelTests } from './panels.ts'
import { sendForPages } from '../../conformance/web/trace.ts'

// Chromium goes through many pages.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

describe.skipIf(!HAS_BROWSER)(`more of the web interface in a browser${NO_BROWSER}`, () => {
  const server = useWeir()
  const used = useInterface(server)
  beforeAll(async () => {
    const weir = server.current()
    await signIn(used.current().page, weir)
    // The page Ingest shows a table after something was refused.
    const refused = await weir.request('/api/v1/runs/batch', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ post: [{ id: 'none', name: 'r', run_type: 'chain', start_time: Date.now() }] }),
    })
    expect(refused.status).toBe(422)
  })

  const extent = campaignShare() === 1 ? 'every page in every look' : 'every page in a look in turn'
  const sent = () => sendForPages(server.current())
  accessibilityTests({ used, sent, extent })
  docsTests({ server, used })
  overviewTests({ server, used })
  moreTracePageTests({ server, used })
  moreUsageTests({ server, used, sent })
  morePriceTests({ server, used })
  moreIngestTests({ server, used })
  mediaTests({ server, used })
  moreSettingsTests({ server, used })
  workspaceTests({ server, used })
  morePageTests({ server, used })
  complaintTests({ server, used })
  keyboardTests({ server, used, sent })
  panelTests({ server, used })
})
