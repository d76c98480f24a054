import { expect, it } from 'vitest'
import { routeName } from '../../../src/http/api/access.ts'
import { platformRoutes } from '../../../src/http/platform/routes.ts'
import { sampleOf, SAMPLES } from './route-samples.ts'
import { callOf } from './sample.ts'
import { missingObjects } from './tenant-world.ts'

it('IDENTITY-7, D-66: the permission matrix in test/long tries every route', () => {
  const routes = platformRoutes()
  const target = { organization: 'o', workspace_id: 'w', objects: missingObjects() }
  const without = routes.filter((route) => {
    const sample = sampleOf(route)
    return sample === undefined || callOf(route, sample, target).path.includes('{')
  })
  expect(without.map(routeName)).toEqual([])
  const names = new Set(routes.map(routeName))
  expect(Object.keys(SAMPLES).filter((name) => !names.has(name))).toEqual([])
})
