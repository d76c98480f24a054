import { describe, expect, it } from 'vitest'
import { type Permission, permissionsOf, ROLE_PERMISSIONS } from './permissions.ts'
import { covers, seenOf, reachesAnyOf, sharedWorkspaces } from './reach.ts'

const caller = (role: keyof typeof ROLE_PERMISSIONS, workspace_ids: string[], all_workspaces = false) => ({
  permissions: new Set<Permission>(ROLE_PERMISSIONS[role]),
  workspace_ids,
  all_workspaces,
})
const reader = permissionsOf({ role: 'admin', member_role: null, read_only: true })

describe('covers', () => {
  it.each([
    ['admin', 'operator', true],
    ['admin', 'admin', true],
    ['operator', 'admin', false],
    ['user', 'viewer', false],
    ['viewer', 'user', false],
    ['viewer', 'viewer', true],
  ] as const)('%s over %s: %s', (own, wanted, covered) => {
    const reach = { permissions: ROLE_PERMISSIONS[wanted], workspace_ids: null }
    expect(covers(caller(own, ['a'], true), reach)).toBe(covered)
  })

  it('IDENTITY-8: is false for a workspace that the caller may not use, and for all unless the caller has all', () => {
    const over = (workspace_ids: string[] | null) =>
      covers(caller('admin', ['a', 'b']), { permissions: reader, workspace_ids })
    expect([['a'], ['a', 'b'], ['a', 'c'], ['c'], [], null].map(over)).toEqual([
      true,
      true,
      false,
      false,
      false,
      false,
    ])
    expect(covers(caller('viewer', ['a'], true), { permissions: reader, workspace_ids: ['later'] })).toBe(
      true,
    )
  })
})

describe('sees', () => {
  it('needs one workspace in common, and shows only those', () => {
    const some = caller('viewer', ['a', 'b'])
    expect([['b', 'c'], ['c'], [], null].map((ids) => reachesAnyOf(some, ids))).toEqual([
      true,
      false,
      false,
      true,
    ])
    expect(seenOf(some, ['c', 'b'])).toEqual(['b'])
    expect(seenOf(some, null)).toBeNull()
    const all = caller('viewer', ['a'], true)
    expect([reachesAnyOf(all, []), reachesAnyOf(all, ['c']), seenOf(all, ['c'])]).toEqual([true, true, ['c']])
  })
})

describe('sharedWorkspaces', () => {
  it('treats null as all', () => {
    expect(sharedWorkspaces(null, null)).toBeNull()
    expect(sharedWorkspaces(['a'], null)).toEqual(['a'])
    expect(sharedWorkspaces(null, ['a'])).toEqual(['a'])
    expect(sharedWorkspaces(['a', 'b'], ['b', 'c'])).toEqual(['b'])
  })
})
