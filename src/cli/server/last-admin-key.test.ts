import { expect, it } from 'vitest'
import type { SchemaTypes } from '../../schema/types.gen.ts'
import { isLastAdminKey } from './last-admin-key.ts'

type ApiKey = SchemaTypes['api-key']

const ADMIN = { role: 'admin', read_only: false, workspaces: null, expires_at: null } as const

function keyOf(id: string, fields: Partial<ApiKey> = {}): ApiKey {
  return { id, ...ADMIN, ...fields } as ApiKey
}

/** An API whose organization has an admin with these tokens, a member without any, and these service keys. */
function api(tokens: ApiKey[], service: ApiKey[] = []) {
  const answers: Record<string, unknown> = {
    '/orgs/current/members': [
      { user_id: 'a', role: 'admin' },
      { user_id: 'u', role: 'user' },
    ],
    '/orgs/current/service-keys': service,
    '/orgs/current/personal-access-tokens?user_id=a': tokens,
  }
  return { json: async <T>(path: string): Promise<T> => answers[path] as T }
}

const first = keyOf('1')

it.each([
  ['no other', [], true],
  ['one that reads only', [keyOf('2', { read_only: true })], true],
  ['one of a workspace', [keyOf('2', { workspaces: ['w'] })], true],
  ['one that has expired', [keyOf('2', { expires_at: '2020-01-01T00:00:00Z' })], true],
  ['one of another role', [keyOf('2', { role: 'operator' })], true],
  ['another admin key', [keyOf('2')], false],
])('beside %s: last is %3$s', async (_name, others, isLast) => {
  expect(await isLastAdminKey(api([first, ...others]), first)).toBe(isLast)
  expect(await isLastAdminKey(api([first], others), first)).toBe(isLast)
})

it('is not requested for a key that is not an admin key', async () => {
  expect(await isLastAdminKey(api([]), keyOf('1', { role: 'user' }))).toBe(false)
})
