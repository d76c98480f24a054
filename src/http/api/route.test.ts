import { expectTypeOf, it } from 'vitest'
import type { Permission } from '../../identity/permissions.ts'
import type { RouteDefinition } from './route.ts'

type Definition = RouteDefinition<object, object, object, undefined, 'bytes'>

it('D-66: a route without a permission, or with an unknown one, does not compile', () => {
  expectTypeOf<Omit<Definition, 'needs'>>().not.toExtend<Definition>()
  expectTypeOf<Definition['needs']>().toEqualTypeOf<Permission | 'any key' | 'any writing key' | 'open'>()
})
