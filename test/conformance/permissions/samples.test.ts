import { expect, it } from 'vitest'
import { ROUTE_NEEDS } from '../../../src/http/platform/permissions.ts'
import { SAMPLES } from './route-samples.ts'

it('IDENTITY-7: the permission matrix in test/long tries every route', () => {
  expect(Object.keys(SAMPLES).toSorted()).toEqual(Object.keys(ROUTE_NEEDS).toSorted())
})
