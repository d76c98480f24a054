import { expect, it } from 'vitest'
import { groupsIn, newerClaims, personOf } from './person.ts'

const OF = { issuer: 'https://id.test', groups_claim: 'groups' }
const ENTRA = { issuer: 'https://login.microsoftonline.com/1/v2.0', groups_claim: 'groups' }

it('TEAM-4: the subject is sub, and oid at Entra', () => {
  expect(personOf(OF, { sub: 's', oid: 'o' })?.subject).toBe('s')
  expect(personOf(ENTRA, { sub: 's', oid: 'o' })?.subject).toBe('o')
  expect(personOf(ENTRA, { sub: 's' })).toBeUndefined()
  expect(personOf(OF, { sub: 7 })).toBeUndefined()
})

it.each([
  [{ groups: ['a', 7, 'b'] }, ['a', 'b']],
  [{ groups: 'a' }, ['a']],
  [{ groups: [] }, []],
  [{ groups: null }, undefined],
  [{}, undefined],
])('TEAM-1: the groups in %j', (claims, groups) => {
  expect(groupsIn(claims, 'groups')).toEqual(groups)
})

it('TEAM-1: dots lead into objects, unless a claim has that name', () => {
  const claims = { realm_access: { roles: ['in'] }, 'https://acme.test/groups': ['url'] }
  expect(groupsIn(claims, 'realm_access.roles')).toEqual(['in'])
  expect(groupsIn(claims, 'https://acme.test/groups')).toEqual(['url'])
  expect(groupsIn(claims, 'realm_access.constructor')).toBeUndefined()
})

it('TEAM-4: an address and whether it is verified come from the same place', () => {
  const userinfo = { email: 'Other@acme.test', email_verified: true, groups: ['x'], name: 'Ada' }
  expect(personOf(OF, { sub: 's', email: 'Ada@acme.test' }, userinfo)).toMatchObject({
    email: 'ada@acme.test',
    email_verified: undefined,
    groups: ['x'],
    name: 'Ada',
  })
  expect(personOf(OF, { sub: 's' }, userinfo)).toMatchObject({
    email: 'other@acme.test',
    email_verified: true,
  })
  expect(personOf(OF, { sub: 's', email: 'no address' })?.email).toBeUndefined()
})

it('TEAM-4: a new address is not verified because the one before was', () => {
  const before = { sub: 's', email: 'ada@acme.test', email_verified: true, oid: 'o' }
  expect(newerClaims(before, { email: 'root@acme.test' })).toEqual({
    ...before,
    email: 'root@acme.test',
    email_verified: undefined,
  })
  expect(newerClaims(before, { email: 'ada@acme.test', name: 'Ada' })).toEqual({ ...before, name: 'Ada' })
  expect(newerClaims(before, { email_verified: false })).toMatchObject({ email_verified: false })
})

it('TEAM-4: no letter of an address becomes that of another one', () => {
  const [kelvin] = ['\u212aATE@acme.test']
  expect(personOf(OF, { sub: 's', email: kelvin })?.email).toBe('\u212aate@acme.test')
})
