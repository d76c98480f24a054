import { expect, it } from 'vitest'
import type { ServerDeployment } from '../../deploy/stores/server-deployment.ts'
import { graphName } from '../../storage/sql/server-registry.ts'
import { isOfServer } from './control-plane.ts'

it('P-1: the names of deployments of GRAPHS are those of this server and of the others', async () => {
  const graphs = { deployment: { name: 'mine' } } as ServerDeployment
  const servers = { graphs: async () => new Set([graphName('theirs', 'agent')]), others: async () => 1 }
  expect(await isOfServer({ graphs, servers }, 'mine')).toBe(true)
  expect(await isOfServer({ graphs, servers }, 'theirs')).toBe(true)
  expect(await isOfServer({ graphs, servers }, 'their')).toBe(false)
  expect(await isOfServer({ graphs: undefined, servers: undefined }, 'mine')).toBe(false)
})
