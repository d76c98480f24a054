import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { describe, expect, vi } from 'vitest'
import { CARDS, componentTests } from '../../conformance/web/components/component-tests.ts'
import { LONG_MS } from '../../support/campaign.ts'
import {
  addRevision,
  archiveOf,
  createDeployment,
  endedRevision,
} from '../../support/deployments/deploy-project.ts'
import { startWeir, type WeirProcess, type WeirRequest } from '../../support/servers/server.ts'
import { HAS_BROWSER, NO_BROWSER } from '../../support/servers/web-interface.ts'

// A browser and a server start, and a project is built.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

const FOLDER = new URL('../../fixtures/projects/cards/', import.meta.url)
const FILES = ['langgraph.json', 'package.json', 'src/cards.ts', 'src/ui.tsx', 'src/styles.css']

async function startDeployed(): Promise<WeirProcess> {
  const weir = await startWeir({ DEPLOYMENT_PORT: '0' })
  const texts = FILES.map(async (path) => [
    path,
    await readFile(fileURLToPath(new URL(path, FOLDER)), 'utf8'),
  ])
  const archive = await archiveOf(Object.fromEntries(await Promise.all(texts)) as Record<string, string>)
  const request = (path: string, init?: RequestInit): Promise<Response> =>
    weir.request(path, init as WeirRequest)
  const control = {
    fetch: request,
    json: async <T>(path: string, init?: RequestInit): Promise<T> =>
      (await (await request(path, init)).json()) as T,
  }
  const { id } = await createDeployment(control, CARDS)
  const revision = await endedRevision(control, id, (await addRevision(control, id, archive)).id)
  expect(revision.status).toBe('DEPLOYED')
  return weir
}

describe.skipIf(!HAS_BROWSER)(`UI components of a deployment in Studio${NO_BROWSER}`, () => {
  componentTests(startDeployed)
})
