import type { MemberRead } from '../../api/platform.gen.ts'

/** A role of members and keys. */
export type RoleName = MemberRead['role']

/** The roles for a select, the one with most permissions first. */
export const ROLE_OPTIONS: readonly (readonly [RoleName, string])[] = [
  ['admin', 'Admin'],
  ['operator', 'Operator'],
  ['user', 'User'],
  ['viewer', 'Viewer'],
]
