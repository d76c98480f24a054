import type { Locator } from 'playwright-core'
import { afterAll, beforeAll, expect } from 'vitest'
import { borrowWeir, type UsedWeir } from '../../support/servers/use-weir.ts'
import { signIn, type UsedInterface, useInterface } from '../../support/servers/web-interface.ts'
import { DEPLOYMENT_NAME } from '../../support/servers/weir-pool.ts'

/** Path of the deployment on shared servers. */
export const DEPLOYMENT = `/deployments/${DEPLOYMENT_NAME}`

/** Studio for that deployment, in a browser that is signed in. */
export interface UsedStudio {
  /** Path of Studio below `/app`. */
  studio: string
  graph(): Locator
  /** The checkpoints in the timeline. */
  steps(): Locator
  /** Opens Studio for the graph `kinds` and runs it with this kind; resolves with the id of the thread. */
  runKind(kind: string): Promise<string>
}

/**
 * Borrows the shared server with that deployment. All of its runs are cancelled at the end, because other tests use the
 * server next.
 */
function useDeploymentServer(): { current(): UsedWeir } {
  let weir: UsedWeir | undefined
  beforeAll(async () => {
    weir = await borrowWeir('/weir/deployment')
  })
  afterAll(async () => {
    await weir?.json(`${DEPLOYMENT}/runs/cancel?wait=true`, { status: 'all' }).catch(() => undefined)
    expect(await weir?.stop()).toBe(0)
  })
  return {
    current() {
      if (weir === undefined) throw new Error('no server was borrowed')
      return weir
    },
  }
}

/** The shared server with that deployment, and a browser that is signed in. */
export function useDeploymentPages(): {
  server: { current(): UsedWeir }
  used: { current(): UsedInterface }
} {
  const server = useDeploymentServer()
  const used = useInterface(server)
  beforeAll(() => signIn(used.current().page, server.current()))
  return { server, used }
}

/** Makes the locators and actions for tests of Studio. */
export function useStudio(used: { current(): UsedInterface }): UsedStudio {
  const studio = `${DEPLOYMENT}/studio`
  return {
    studio,
    graph: () => used.current().page.getByRole('region', { name: 'Graph' }),
    steps: () => used.current().page.getByRole('region', { name: 'Timeline' }).getByRole('listitem'),
    async runKind(kind) {
      const { page, open } = used.current()
      await open(`${studio}?assistant=kinds`)
      await page.getByRole('textbox', { name: 'kind' }).fill(kind)
      await page.getByRole('button', { name: 'Run', exact: true }).click()
      await page.waitForURL(/studio\/[0-9a-f-]{36}/)
      return new URL(page.url()).pathname.split('/').at(-1) ?? ''
    },
  }
}
