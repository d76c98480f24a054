import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, vi } from 'vitest'
import { openOwnUsers } from '../../../src/deploy/isolation/own-users.ts'
import { openSandbox, type SandboxOptions } from '../../../src/deploy/isolation/sandbox.ts'
import { hostileDeployments, NOT_THERE, OF_OTHERS } from '../../support/deployments/hostile-deployments.ts'
import { LONG_MS } from '../../support/campaign.ts'

// Packages are installed, and every revision starts processes.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

/** Why this isolation does not work here; undefined when it does. */
async function reasonOf(open: typeof openSandbox, what: string): Promise<string | undefined> {
  const dataDir = await mkdtemp(join(tmpdir(), 'weir-probe-'))
  const options: SandboxOptions = { env: process.env, packages: tmpdir(), dataDir }
  const probed = await open(options)
  await rm(dataDir, { recursive: true })
  if (!('reason' in probed)) return undefined
  console.log(`skipped: isolation of deployments by ${what}: ${probed.reason}`)
  return probed.reason
}

const noSandbox = await reasonOf(openSandbox, 'a sandbox')
const noUsers = await reasonOf(openOwnUsers, 'user ids')
const env = (isolation: string) => ({ DEPLOY_ISOLATION: isolation })

describe.skipIf(noSandbox !== undefined)('P-23: a hostile graph in the sandbox', () => {
  hostileDeployments({ isolation: 'sandbox', runtime: 'process', seen: NOT_THERE, env: env('sandbox') })
})

describe.skipIf(noUsers !== undefined)('P-23: a hostile graph under a user id of its own', () => {
  hostileDeployments({ isolation: 'uid', runtime: 'process', seen: OF_OTHERS, env: env('uid') })
})
