import { describe, expect, it } from 'vitest'
import type { AppError } from '../base/errors.ts'
import { hashApiKey } from './api-keys.ts'
import { createAuthenticator } from './authenticator.ts'
import type { IdentityStore } from './identity-store.ts'
import type { KeyGrant } from './principal.ts'

const A = '11111111-1111-4111-8111-111111111111'
const B = '22222222-2222-4222-8222-222222222222'
const KEY = 'a-key-of-enough-length'
const GRANT: KeyGrant = {
  organization_id: 'o',
  user_id: 'u',
  api_key_id: 'k',
  short_key: 'a-ke...ngth',
  workspace_ids: [A],
  default_workspace_id: A,
  expires_at: null,
}

/** A store that knows one key and counts what is asked of it. */
function setUp(grant: Partial<KeyGrant> = {}) {
  const calls: string[] = []
  let now = 1000
  let known = true
  const store: IdentityStore = {
    createFirst: async () => false,
    firstOrganization: async () => undefined,
    organization: async () => undefined,
    workspaces: async () => [],
    adminGrant: async () => undefined,
    async findKey(key_hash) {
      calls.push('find')
      return known && key_hash === hashApiKey(KEY) ? { key_hash, grant: { ...GRANT, ...grant } } : undefined
    },
    async touchKey(id, at) {
      calls.push(`touch ${id} ${at}`)
    },
  }
  const authenticator = createAuthenticator({ store, clock: { now: () => now } })
  const attempt = async (key: string | undefined, workspace?: string): Promise<string> => {
    try {
      return (await authenticator.authenticate({ key, workspace })).workspace_id
    } catch (error) {
      return (error as AppError).code
    }
  }
  return {
    calls,
    attempt,
    authenticator,
    later: (ms: number) => void (now += ms),
    deleteKey: () => void (known = false),
  }
}

describe('authenticate', () => {
  it('looks a key up once in 30 s and then answers at once', async () => {
    const { attempt, authenticator, calls, later } = setUp()
    expect(await attempt(KEY)).toBe(A)
    later(29_999)
    expect(authenticator.authenticate({ key: KEY, workspace: undefined })).not.toBeInstanceOf(Promise)
    expect(calls).toEqual(['find', 'touch k 1000'])
    later(1)
    expect(await attempt(KEY)).toBe(A)
    expect(calls).toEqual(['find', 'touch k 1000', 'find', 'touch k 31000'])
  })

  it('does not remember unknown keys, and forgets a deleted one after 30 s or at once when told', async () => {
    const { attempt, authenticator, calls, deleteKey, later } = setUp()
    expect([await attempt('other-key-of-length'), await attempt('other-key-of-length')]).toEqual([
      'unauthorized',
      'unauthorized',
    ])
    expect(calls).toEqual(['find', 'find'])
    expect(await attempt(KEY)).toBe(A)
    deleteKey()
    expect(await attempt(KEY)).toBe(A)
    later(30_000)
    expect(await attempt(KEY)).toBe('unauthorized')
    const other = setUp()
    await other.attempt(KEY)
    other.deleteKey()
    other.authenticator.forget('k')
    expect(await other.attempt(KEY)).toBe('unauthorized')
    expect(authenticator).toBeDefined()
  })

  it('refuses a missing key and one past its time, also from memory', async () => {
    const { attempt, later } = setUp({ expires_at: 2000 })
    expect([await attempt(undefined), await attempt('')]).toEqual(['unauthorized', 'unauthorized'])
    expect(await attempt(KEY)).toBe(A)
    later(1000)
    expect(await attempt(KEY)).toBe('unauthorized')
  })

  it('takes the named workspace only if the key may use it', async () => {
    const { attempt } = setUp({ workspace_ids: [A, B] })
    expect([await attempt(KEY, B), await attempt(KEY, B.toUpperCase())]).toEqual([B, B])
    expect([await attempt(KEY, 'nonsense'), await attempt(KEY, A.replace('1', '3'))]).toEqual([
      'forbidden',
      'forbidden',
    ])
    expect(await attempt(KEY)).toBe(A)
    expect(await setUp({ workspace_ids: [A, B], default_workspace_id: null }).attempt(KEY)).toBe(
      'workspace_required',
    )
  })
})
