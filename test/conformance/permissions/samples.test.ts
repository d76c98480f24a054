import { expect, it } from 'vitest'
import { routeName } from '../../../src/http/api/access.ts'
import { platformRoutes } from '../../../src/http/platform/routes.ts'
import { sampleOf, SAMPLES } from './route-samples.ts'

it('IDENTITY-7, D-66: the permission matrix in test/long tries every route', () => {
  const routes = platformRoutes()
  const without = routes.filter((route) => sampleOf(route) === undefined)
  expect(without.map(routeName)).toEqual([])
  const names = new Set(routes.map(routeName))
  expect(Object.keys(SAMPLES).filter((name) => !names.has(name))).toEqual([])
})
