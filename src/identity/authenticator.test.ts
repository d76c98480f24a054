import { describe, expect, it } from 'vitest'
import { AppError } from '../base/errors.ts'
import { hashApiKey } from './api-keys.ts'
import { createAuthenticator } from './authenticator.ts'
import { PERMISSIONS, ROLE_PERMISSIONS } from './permissions.ts'
import type { KeyGrant } from './principal.ts'
import { NOW } from '../../test/support/faults/test-clock.ts'

const A = '11111111-1111-4111-8111-111111111111'
const B = '22222222-2222-4222-8222-222222222222'
const KEY = 'a-key-of-enough-length'
const GRANT: KeyGrant = {
  organization_id: 'o',
  user_id: 'u',
  api_key_id: 'k',
  short_key: 'a-ke...ngth',
  workspace_ids: [A],
  all_workspaces: true,
  default_workspace_id: A,
  role: 'admin',
  member_role: 'admin',
  read_only: false,
  expires_at: null,
}

/** A store with one key that counts its look-ups. */
function setUp(grant: Partial<KeyGrant> = {}, options: { openGrant?: KeyGrant; outageMs?: number } = {}) {
  const calls: string[] = []
  let now = NOW
  let back = 0
  let stored: KeyGrant | undefined = { ...GRANT, ...grant }
  let gate: Promise<void> | undefined
  let isAway = false
  let foundHash = hashApiKey(KEY)
  const store: Parameters<typeof createAuthenticator>[0]['store'] = {
    async adminGrant() {
      calls.push('admin')
      if (isAway) throw new AppError('store_unavailable')
      return stored
    },
    async findKey(key_hash) {
      calls.push('find')
      if (isAway) throw new AppError('store_unavailable')
      const isStored = key_hash === hashApiKey(KEY) && stored
      const found = isStored ? { key_hash: foundHash, grant: stored! } : undefined
      await gate
      return found
    },
    async touchKey(id, at) {
      calls.push(`touch ${id} ${at}`)
      throw new AppError('store_unavailable')
    },
  }
  const authenticator = createAuthenticator({
    store,
    sessions: { find: async () => undefined, touch: async () => undefined },
    tokens: { access: async () => undefined },
    clock: { now: () => now - back, steady: () => now - 12_345.625 },
    ...options,
  })
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
    permissions: async () =>
      (await authenticator.authenticate({ key: KEY, workspace: undefined })).permissions,
    setAway: (away: boolean) => void (isAway = away),
    /** Sets the hash of the key that the store finds. */
    setFound: (hash: string) => void (foundHash = hash),
    later: (ms: number) => void (now += ms),
    setBack: (ms: number) => void (back += ms),
    change: (changes: Partial<KeyGrant>) => void (stored = { ...GRANT, ...changes }),
    deleteKey: () => void (stored = undefined),
    /** Delays the answers to look-ups until the promise resolves. */
    holdAnswers: (until: Promise<void>) => void (gate = until),
  }
}

describe('authenticate', () => {
  it('looks a key up once in 30 s and is synchronous in between', async () => {
    const { attempt, authenticator, calls, later } = setUp()
    expect(await attempt(KEY)).toBe(A)
    later(29_999)
    expect(authenticator.authenticate({ key: KEY, workspace: undefined })).not.toBeInstanceOf(Promise)
    expect(calls).toEqual(['find', `touch k ${NOW}`])
    later(1)
    expect(await attempt(KEY)).toBe(A)
    expect(calls).toEqual(['find', `touch k ${NOW}`, 'find', `touch k ${NOW + 30_000}`])
  })

  it('IDENTITY-2: does not cache unknown keys, and drops a deleted one after 30 s, or at once by `forget`', async () => {
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

  it('looks keys up by their SHA-256 only, and compares it whole, so that times tell nothing of a key', async () => {
    const { attempt, calls, setFound } = setUp()
    // A store that finds more than it was asked for, as one does that ignores case or compares a part.
    setFound(hashApiKey(KEY).replace(/.$/, (last) => (last === '0' ? '1' : '0')))
    expect(await attempt(KEY)).toBe('unauthorized')
    setFound(hashApiKey(KEY).slice(0, -1))
    expect(await attempt(KEY)).toBe('unauthorized')
    expect(calls).toEqual(['find', 'find'])
  })

  it('accepts a key that it knows while the store is away, for as long as is set and no other key', async () => {
    const { attempt, later, setAway, deleteKey, calls } = setUp({}, { outageMs: 60_000 })
    expect(await attempt(KEY)).toBe(A)
    setAway(true)
    for (let seconds = 0; seconds < 85; seconds += 5) {
      later(5_000)
      expect(await attempt(KEY)).toBe(A)
    }
    expect(await attempt('another-key-of-enough-length')).toBe('store_unavailable')
    later(10_000)
    expect(await attempt(KEY)).toBe('store_unavailable')
    setAway(false)
    expect(await attempt(KEY)).toBe(A)
    setAway(true)
    later(31_000)
    expect(await attempt(KEY)).toBe(A)
    // During an outage, the database is not queried for each request. Once it responds, its answers are used again.
    const asked = calls.length
    expect([await attempt(KEY), calls.length]).toEqual([A, asked])
    deleteKey()
    setAway(false)
    later(5_000)
    expect(await attempt(KEY)).toBe('unauthorized')
  })

  it('goes on with AUTH=off while the store is away', async () => {
    const { attempt, later, setAway } = setUp({}, { openGrant: GRANT })
    setAway(true)
    later(31_000)
    expect(await attempt(undefined)).toBe(A)
  })

  it('forgets a deleted key after 30 s, also when the clock was set back meanwhile', async () => {
    const { attempt, deleteKey, later, setBack } = setUp()
    expect(await attempt(KEY)).toBe(A)
    deleteKey()
    setBack(3_600_000)
    later(30_000)
    expect(await attempt(KEY)).toBe('unauthorized')
  })

  it('serves all requests that wait for the same key with one look-up', async () => {
    const { attempt, calls } = setUp()
    expect(await Promise.all(Array.from({ length: 50 }, () => attempt(KEY)))).toEqual(Array(50).fill(A))
    expect(calls).toEqual(['find', `touch k ${NOW}`])
  })

  it('serves all streams that are checked at the same time with one look-up, also with AUTH=off', async () => {
    for (const options of [{}, { openGrant: GRANT }]) {
      const { authenticator, calls } = setUp({}, options)
      const check = async () =>
        await authenticator.authenticate({ key: KEY, workspace: A }, 'workspace', true)
      await Promise.all(Array.from({ length: 50 }, check))
      expect(calls.filter((call) => !call.startsWith('touch'))).toHaveLength(1)
    }
  })

  it.each(['forget', 'forgetAll'] as const)(
    'does not cache a result that was read before a change (%s)',
    async (method) => {
      const { attempt, authenticator, deleteKey, holdAnswers } = setUp()
      const gate = Promise.withResolvers<void>()
      holdAnswers(gate.promise)
      const early = attempt(KEY)
      deleteKey()
      authenticator[method]('k')
      const late = attempt(KEY)
      gate.resolve()
      expect([await early, await late, await attempt(KEY)]).toEqual([A, 'unauthorized', 'unauthorized'])
    },
  )

  it('returns the permissions of the key, read again after `forgetAll`', async () => {
    const { authenticator, permissions, change } = setUp()
    expect(await permissions()).toEqual(new Set(PERMISSIONS))
    change({ member_role: 'user', read_only: true })
    expect(await permissions()).toEqual(new Set(PERMISSIONS))
    authenticator.forgetAll()
    expect(await permissions()).toEqual(
      new Set(ROLE_PERMISSIONS.user.filter((permission) => permission.endsWith(':read'))),
    )
  })

  it('refuses a missing key and an expired one, also from the cache', async () => {
    const { attempt, later } = setUp({ expires_at: NOW + 1000 })
    expect([await attempt(undefined), await attempt('')]).toEqual(['unauthorized', 'unauthorized'])
    expect(await attempt(KEY)).toBe(A)
    later(1000)
    expect(await attempt(KEY)).toBe('unauthorized')
  })

  it('IDENTITY-5: accepts the named workspace only if the key may use it', async () => {
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
    expect(await setUp({ workspace_ids: [], default_workspace_id: null }).attempt(KEY)).toBe('forbidden')
  })

  it('IDENTITY-5: needs no workspace for a request about the organization', async () => {
    const { authenticator } = setUp({
      workspace_ids: [A, B],
      default_workspace_id: null,
      expires_at: NOW + 1000,
    })
    const act = async (workspace?: string) =>
      await authenticator.authenticate({ key: KEY, workspace }, 'organization')
    expect(await act()).toMatchObject({ workspace_id: A, workspace_chosen: false, expires_at: NOW + 1000 })
    expect(await act(B)).toMatchObject({ workspace_id: B, workspace_chosen: true })
    await expect(act(A.replace('1', '3'))).rejects.toMatchObject({ code: 'forbidden' })
    const preferring = setUp({ workspace_ids: [A, B], default_workspace_id: B }).authenticator
    expect(await preferring.authenticate({ key: KEY, workspace: undefined }, 'organization')).toMatchObject({
      workspace_id: B,
      workspace_chosen: true,
    })
    const nowhere = setUp({ workspace_ids: [], default_workspace_id: null }).authenticator
    await expect(
      (async () => await nowhere.authenticate({ key: KEY, workspace: undefined }, 'organization'))(),
    ).rejects.toMatchObject({ code: 'forbidden' })
  })
})

describe('authenticate without keys', () => {
  it('acts for the admin, also in workspaces that were created later', async () => {
    const { attempt, authenticator, calls, change, later } = setUp({}, { openGrant: GRANT })
    expect([await attempt(undefined), await attempt('nonsense', A), await attempt('', B)]).toEqual([
      A,
      A,
      'forbidden',
    ])
    expect(calls).toEqual([])
    change({ workspace_ids: [A, B] })
    authenticator.forgetAll()
    expect(await attempt(undefined, B)).toBe(B)
    change({ workspace_ids: [A] })
    later(30_000)
    expect([await attempt(undefined, B), calls]).toEqual(['forbidden', ['admin', 'admin']])
  })

  it('continues with the first grant when no admin key is left', async () => {
    const { attempt, authenticator, deleteKey } = setUp({}, { openGrant: GRANT })
    deleteKey()
    authenticator.forgetAll()
    expect(await attempt(undefined)).toBe(A)
  })
})
