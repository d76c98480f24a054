import type { Locator } from 'playwright-core'
import type { UsedInterface } from '../../support/servers/web-interface.ts'
import { DEPLOYMENT_NAME } from '../../support/servers/weir-pool.ts'

/** Path of the deployment of shared servers. */
export const DEPLOYMENT = `/deployments/${DEPLOYMENT_NAME}`

/** Studio of that deployment in a browser that is signed in. */
export interface UsedStudio {
  /** Its path below `/app`. */
  studio: string
  graph(): Locator
  /** The checkpoints in the timeline. */
  steps(): Locator
  /** Opens Studio for the graph `kinds` and runs it with this kind; resolves with the id of the thread. */
  runKind(kind: string): Promise<string>
}

/** Makes the actions and the locators of tests of Studio. */
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
