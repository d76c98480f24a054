import { fileURLToPath } from 'node:url'
import { describe } from 'vitest'
import { startWeir } from '../../../support/servers/server.ts'
import { HAS_BROWSER, NO_BROWSER } from '../../../support/servers/web-interface.ts'
import { CARDS, componentTests } from './component-tests.ts'

const GRAPHS = fileURLToPath(new URL('../../../fixtures/projects/cards/langgraph.json', import.meta.url))

describe.skipIf(!HAS_BROWSER)(`UI components of the project of GRAPHS in Studio${NO_BROWSER}`, () => {
  componentTests(() => startWeir({ GRAPHS, DEPLOYMENT_NAME: CARDS, DEPLOYMENT_PORT: '0' }))
})
