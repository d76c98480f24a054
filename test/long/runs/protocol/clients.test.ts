import { describe, it, vi } from 'vitest'
import { useDeployment } from '../../../conformance/deployments/use-deployment.ts'
import { describeCases, type Sdk } from '../../../conformance/langgraph/js/protocol-v2/cases/player.ts'
import { importSdk, withoutSdks } from '../../../support/langgraph-sdks.ts'
import { LONG_MS } from '../../../support/campaign.ts'

// Many runs, and values of many megabytes.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

const missing = withoutSdks()

async function sdkOf(name: string, version: string): Promise<Sdk> {
  const { Client } = await importSdk<Pick<Sdk, 'Client'>>(name)
  return { version, Client, stream: await importSdk<object>(`${name}/stream`) }
}

describe.skipIf(missing !== '')(`earlier SDKs${missing}`, async () => {
  if (missing !== '') {
    it('play the recorded sessions', () => undefined)
    return
  }
  const setup = useDeployment('protocol-v2')
  // 1.9 is the last version that takes `since` from one connection to the next (V-15).
  describeCases(await sdkOf('langgraph-sdk-1-9', '1.9.26'), setup)
  describeCases(await sdkOf('langgraph-sdk-1-12', '1.12.0'), setup)
})
