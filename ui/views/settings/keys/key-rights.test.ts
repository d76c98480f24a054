import { describe, expect, it } from 'vitest'
import { whyNoKeys } from './key-rights.ts'

const ADMIN = {
  auth: 'on',
  permissions: ['organization:manage', 'organization:read'],
  user: {},
} as const

describe('whyNoKeys', () => {
  it('lets an admin change both kinds', () => {
    expect([whyNoKeys('service', ADMIN), whyNoKeys('personal', ADMIN)]).toEqual([undefined, undefined])
  })

  it('names the permission that a user lacks for service keys, and lets it change its own tokens', () => {
    const user = { ...ADMIN, permissions: ['runs:read', 'runs:create'] }
    expect(whyNoKeys('service', user)).toBe('This needs the permission organization:manage')
    expect(whyNoKeys('personal', user)).toBeUndefined()
  })

  it('refuses tokens of a service key, of a key that only reads, and with AUTH=off', () => {
    expect(whyNoKeys('personal', { ...ADMIN, user: null })).toContain('service key')
    expect(whyNoKeys('personal', { ...ADMIN, permissions: ['runs:read'] })).toContain('may write')
    expect(whyNoKeys('service', { ...ADMIN, auth: 'off' })).toContain('AUTH=on')
  })
})
