import { describe, expect, it } from 'vitest'
import { admit, type Known, rightsOfGroups } from './admission.ts'
import type { Person } from './person.ts'

const ADA: Person = {
  issuer: 'https://id.test',
  subject: 'ada',
  email: 'ada@acme.test',
  email_verified: true,
  name: 'Ada',
  groups: [],
}
const RULES = {
  allowed_domains: [],
  allowed_groups: [],
  group_roles: [
    { group: 'staff', role: 'viewer' as const },
    { group: 'ml', role: 'user' as const, workspaces: ['ml'] },
    { group: 'data', role: 'user' as const, workspaces: ['w2'] },
    { group: 'gone', role: 'admin' as const, workspaces: ['no such workspace'] },
  ],
  default_role: undefined,
  sign_up: true,
  role_sync: true,
  trusted_email: false,
}
const WORKSPACES = [
  { id: 'w1', display_name: 'ml' },
  { id: 'w2', display_name: 'data' },
]
const NEW: Known = { rights: undefined, by_groups: false, groups: [], invited: undefined }
const member = (by_groups: boolean): Known => ({
  rights: { role: 'operator', workspace_ids: null },
  by_groups,
  groups: [],
  invited: undefined,
})

const decide = (
  person: Partial<Person>,
  rules: Partial<Parameters<typeof admit>[1]> = {},
  known = NEW,
  admin_email?: string,
) => admit({ ...ADA, ...person }, { ...RULES, ...rules }, { known, admin_email, workspaces: WORKSPACES })

describe('TEAM-5: the rights of groups', () => {
  it('TEAM-10: are also those of the groups that SCIM knows', () => {
    const rights = { role: 'viewer', workspace_ids: null }
    const known = { ...member(true), groups: ['staff'] }
    expect(decide({ groups: [] }, {}, known)).toMatchObject({ rights, by_groups: true })
    expect(decide({ groups: [] }, { allowed_groups: ['staff'] }, known)).toMatchObject({ rights })
  })

  it.each([
    [['staff'], { role: 'viewer', workspace_ids: null }],
    [['staff', 'ml'], { role: 'user', workspace_ids: ['w1'] }],
    [['ml', 'data'], { role: 'user', workspace_ids: ['w1', 'w2'] }],
    [['gone', 'ml'], { role: 'user', workspace_ids: ['w1'] }],
    [['gone'], undefined],
    [['STAFF'], undefined],
    [[], undefined],
  ])('%j', (groups, rights) => {
    expect(rightsOfGroups(groups, RULES.group_roles, WORKSPACES)).toEqual(rights)
  })

  it('are of all workspaces if one of the highest groups names none', () => {
    const roles = [...RULES.group_roles, { group: 'all', role: 'user' as const }]
    expect(rightsOfGroups(['ml', 'all'], roles, WORKSPACES)).toEqual({ role: 'user', workspace_ids: null })
  })
})

describe('TEAM-4, TEAM-7: who enters', () => {
  it.each([
    ['an address of another domain', {}, { allowed_domains: ['other.test'] }, 'domain_not_allowed'],
    ['a subdomain', { email: 'a@x.acme.test' }, { allowed_domains: ['acme.test'] }, 'domain_not_allowed'],
    [
      'a domain in the local part',
      { email: 'a@acme.test@evil.test' },
      { allowed_domains: ['acme.test'] },
      'domain_not_allowed',
    ],
    [
      'an address that may be false',
      { email_verified: undefined },
      { allowed_domains: ['acme.test'] },
      'email_not_verified',
    ],
    ['an address that is false', { email_verified: false }, { trusted_email: true }, 'email_not_verified'],
    ['a missing group', {}, { allowed_groups: ['ml'] }, 'group_required'],
    ['no role', {}, {}, 'no_role'],
    ['no sign-up', { groups: ['staff'] }, { sign_up: false }, 'sign_up_off'],
  ] as const)('%s is refused', (_, person, rules, refused) => {
    expect(decide(person, rules)).toEqual({ refused })
  })

  it('the default role is for people in no group', () => {
    expect(decide({}, { default_role: 'viewer' })).toEqual({
      rights: { role: 'viewer', workspace_ids: null },
      by_groups: true,
    })
    const trusted = { allowed_domains: ['acme.test'], trusted_email: true, default_role: 'user' as const }
    expect(decide({ email_verified: undefined }, trusted)).toMatchObject({ rights: { role: 'user' } })
  })

  it('rights that people gave stay, those of groups end with the groups', () => {
    expect(decide({}, {}, member(false))).toEqual({ rights: undefined, by_groups: false })
    expect(decide({}, {}, member(true))).toEqual({ refused: 'no_role' })
    expect(decide({}, { role_sync: false }, member(true))).toEqual({ rights: undefined, by_groups: true })
    expect(decide({ groups: ['staff'] }, { role_sync: false }, member(true))).toMatchObject({
      rights: undefined,
    })
    expect(decide({ groups: ['staff'] }, {}, member(false))).toMatchObject({ rights: { role: 'viewer' } })
    expect(decide({ groups: ['staff'] }, { sign_up: false }, member(true))).toMatchObject({ by_groups: true })
  })

  it('TEAM-9: an invitation lets in and gives its rights, unless a group gives some', () => {
    const invited = { ...NEW, invited: { role: 'operator' as const, workspace_ids: ['w1'] } }
    const byInvite = { rights: invited.invited, by_groups: false }
    expect(decide({}, { sign_up: false, default_role: 'viewer' }, invited)).toEqual(byInvite)
    expect(decide({ groups: ['staff'] }, { sign_up: false }, invited)).toMatchObject({
      rights: { role: 'viewer' },
    })
    expect(decide({}, { allowed_groups: ['ml'] }, invited)).toEqual({ refused: 'group_required' })
  })

  it('the first admin is one by a verified address only', () => {
    const { email } = ADA
    expect(decide({}, { sign_up: false }, NEW, email)).toEqual({
      rights: { role: 'admin', workspace_ids: null },
      by_groups: false,
    })
    expect(decide({ email_verified: undefined }, {}, NEW, email)).toEqual({ refused: 'no_role' })
    expect(decide({}, { allowed_domains: ['other.test'] }, NEW, email)).toEqual({
      refused: 'domain_not_allowed',
    })
  })
})
