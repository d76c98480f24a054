import { beforeEach, expect, it } from 'vitest'
import { newUuid } from '../../../src/base/ids.ts'
import { hashApiKey } from '../../../src/identity/api-keys.ts'
import type { IdentityStore } from '../../../src/identity/identity-store.ts'
import { createRegistry } from '../../../src/schema/registry.ts'
import { type ApplySetup, createApplySetup } from '../../../src/setup/apply-setup.ts'
import { createExportSetup } from '../../../src/setup/export-setup.ts'
import { createReadSecret } from '../../../src/setup/read-secret.ts'
import type { Database } from '../../../src/storage/sql/driver/database.ts'
import { createIdentityStore } from '../../../src/storage/sql/identity/identity-store.ts'
import { createIngestLimitStore } from '../../../src/storage/sql/identity/ingest-limit-store.ts'
import { createPriceStore } from '../../../src/storage/sql/prices/price-store.ts'
import { createProjectStore } from '../../../src/storage/sql/projects/store.ts'
import { createSetupTransaction } from '../../../src/storage/sql/setup-stores.ts'
import { describeOnSql } from '../../support/stores/sql/sql-databases.ts'
import { NOW, testClock } from '../../support/faults/test-clock.ts'

const WHOLE = `
version: 1
workspaces:
  - name: ml
    retention_days: 400
    limits: {traces_per_month: 1000000, ingest: {runs_per_minute: 60000, bytes_per_minute: 1GiB}}
members:
  - {email: Ada@acme.test, role: admin}
  - {email: bob@acme.test, role: user, workspaces: [ml]}
service_keys:
  - {name: ci, role: user, workspaces: [ml], key: {env: CI_KEY}}
prices:
  - {name: house-model-9, match: "^house-model-9$", prompt_per_million: 1.0, completion_per_million: 2.5, workspaces: [ml]}
feedback:
  - {key: correctness, type: continuous, min: 0, max: 1, workspaces: [ml]}
`
const FIRST_KEY = 'ci_key_0123456789'
const SECOND_KEY = 'ci_key_9876543210'

describeOnSql('TEAM-11, TEAM-12: a set-up', (engine) => {
  const clock = testClock()
  let organization_id: string
  let environment: Record<string, string>
  let database: Database
  let identity: IdentityStore
  let apply: ApplySetup
  beforeEach(async () => {
    organization_id = newUuid()
    environment = { CI_KEY: FIRST_KEY }
    database = await engine.openPlatform()
    identity = createIdentityStore(database)
    await identity.createFirst({
      organization: { id: organization_id, display_name: 'o', created_at: 1 },
      workspace: { id: newUuid(), organization_id, display_name: 'Default', created_at: 1 },
      user: { id: newUuid(), email: 'first@acme.test', full_name: 'First' },
      key: { id: newUuid(), key_hash: 'h', short_key: 's', description: 'd' },
    })
    apply = createApplySetup({
      inOneTransaction: createSetupTransaction(database, clock),
      registry: createRegistry(),
      clock,
    })
  })

  const actor = { api_key_id: newUuid(), short_key: 's', user_id: null, at: NOW }
  const run = async (document: unknown, dry_run = false): Promise<string[]> => {
    const { steps } = await apply({
      document,
      dry_run,
      organization_id,
      actor,
      readSecret: createReadSecret(environment),
    })
    return steps.map(({ action, section, name }) => `${action} ${section} ${name}`)
  }
  const changes = async (document: unknown, dry_run = false): Promise<string[]> =>
    (await run(document, dry_run)).filter((step) => !step.startsWith('keep'))
  const refusal = async (document: unknown): Promise<string> =>
    await run(document).then(
      (steps) => `no refusal: ${steps.join()}`,
      (error: unknown) => (error as Error).message,
    )
  const runsOfSetups = async (): Promise<number> =>
    (await identity.audit(organization_id, { limit: 100, action: 'setup.apply' })).length
  /** Everything that a set-up may change, without ids. */
  const state = async () => ({
    workspaces: (await identity.workspaces(organization_id)).map(({ display_name }) => display_name),
    members: (await identity.members(organization_id)).map(({ email, role }) => `${email} ${role}`),
    keys: (await identity.apiKeys(organization_id, 'service')).map(({ description }) => description),
  })

  it('is applied whole, and a second run finds nothing to do', async () => {
    const all = [
      'create workspaces ml',
      'create members ada@acme.test',
      'create members bob@acme.test',
      'create service_keys ci',
      'create prices house-model-9',
      'create feedback correctness',
    ]
    expect(await run(WHOLE, true)).toEqual(all)
    expect((await state()).workspaces).toEqual(['Default'])
    expect(await run(WHOLE)).toEqual(all)
    expect(await changes(WHOLE, true)).toEqual([])
    expect(await changes(WHOLE)).toEqual([])
    expect(await runsOfSetups()).toBe(1)
    const ml = (await identity.workspaces(organization_id)).find(({ display_name }) => display_name === 'ml')!
    expect(await createIngestLimitStore(database, clock).list(ml.id)).toMatchObject([
      { runs_per_minute: 60_000, bytes_per_minute: 2 ** 30 },
    ])
    expect(await identity.audit(organization_id, { limit: 9, action: 'workspace.limits' })).toMatchObject([
      { subject_id: ml.id, details: { to: { traces_per_month: 1_000_000 } } },
    ])
    const [price] = await createPriceStore(database, clock).list(ml.id)
    expect(price).toMatchObject({ prompt_cost: '0.000001', completion_cost: '0.0000025' })
    const projects = createProjectStore(database, clock, { retention_days: 7 })
    const id = await projects.resolve(ml.id, { session_id: null, session_name: 'p' })
    expect((await projects.get(ml.id, id))?.retention_days).toBe(400)
    expect((await identity.findKey(hashApiKey(FIRST_KEY)))?.grant.workspace_ids).toEqual([ml.id])
  })

  it('changes nothing at all if one part fails', async () => {
    const before = await state()
    const wrong = WHOLE.replace('max: 1, workspaces: [ml]', 'max: 1, workspaces: [unknown]')
    expect(await refusal(wrong)).toBe('There is no workspace "unknown".')
    expect(await state()).toEqual(before)
    expect(await runsOfSetups()).toBe(0)
    expect(await changes(WHOLE)).toHaveLength(6)
  })

  it.each([
    ['workspaces', '[{name: ml}, {name: " ml "}]'],
    ['members', '[{email: bob@acme.test, role: user}, {email: Bob@acme.test, role: viewer}]'],
    [
      'prices',
      '[{name: m, match: a, prompt_per_million: 1, completion_per_million: 1}, {name: m, match: b, prompt_per_million: 1, completion_per_million: 1}]',
    ],
    ['feedback', '[{key: k, type: freeform}, {key: k, type: continuous}]'],
  ])('refuses %s that would change one record in turn, at every run', async (section, list) => {
    expect(await refusal(`version: 1\n${section}: ${list}`)).toContain('stands there twice')
    expect(await state()).toMatchObject({ workspaces: ['Default'], members: ['first@acme.test admin'] })
  })

  it('takes a workspace that an item names twice as one', async () => {
    const names = 'workspaces: [Default, Default]'
    const document = `version: 1
members: [{email: bob@acme.test, role: user, ${names}}]
prices: [{name: m, match: a, prompt_per_million: 1, completion_per_million: 1, ${names}}]`
    expect(await changes(document)).toHaveLength(2)
    expect(await changes(document)).toEqual([])
  })

  it('gives no rights to a member who has only claimed the address', async () => {
    const email = 'ada@acme.test'
    const person = { user_id: newUuid(), email, full_name: null, created_at: NOW, email_claimed: true }
    const member = { ...person, organization_id, role: 'viewer', workspace_ids: null } as const
    await identity.addMember(member, actor)
    const asked = (role: string) => `version: 1\nmembers: [{email: ${email}, role: ${role}}]`
    expect(await refusal(asked('admin'))).toContain('nobody has proven the address')
    expect((await state()).members).toContain(`${email} viewer`)
    expect(await changes(asked('viewer'))).toEqual([])
  })

  it('is applied once by three servers at the same time', async () => {
    const all = await Promise.all([changes(WHOLE), changes(WHOLE), changes(WHOLE)])
    expect(all.map(({ length }) => length).toSorted((a, b) => a - b)).toEqual([0, 0, 6])
    expect(await runsOfSetups()).toBe(1)
  })

  it('touches only what it names, and deletes only in sections with prune', async () => {
    await run(WHOLE)
    const members = (items: string, prune = '') => `{version: 1, members: {${prune} items: [${items}]}}`
    const first = '{email: first@acme.test, role: admin}'
    expect(await changes(members(first))).toEqual([])
    expect(
      await changes('{version: 1, members: [{email: bob@acme.test, role: viewer, workspaces: [ml]}]}'),
    ).toEqual(['change members bob@acme.test'])
    expect((await changes(members(first, 'prune: true,'))).toSorted()).toEqual([
      'delete members ada@acme.test',
      'delete members bob@acme.test',
    ])
    const last = members('{email: first@acme.test, role: user}', 'prune: true,')
    expect(await refusal(last)).toContain('at least one admin')
    expect((await state()).keys).toEqual(['ci'])
    expect(await changes('{version: 1, service_keys: {prune: true, items: []}}')).toEqual([
      'delete service_keys ci',
    ])
  })

  it('replaces a key whose secret has changed, and lets the old one overlap', async () => {
    await run(WHOLE)
    environment['CI_KEY'] = SECOND_KEY
    expect(await changes(WHOLE)).toEqual(['change service_keys ci'])
    expect(await changes(WHOLE)).toEqual([])
    expect((await identity.findKey(hashApiKey(FIRST_KEY)))?.grant.expires_at).toBe(NOW + 24 * 3_600_000)
    expect((await identity.findKey(hashApiKey(SECOND_KEY)))?.grant.expires_at).toBeNull()
    environment['CI_KEY'] = FIRST_KEY
    expect(await changes(WHOLE)).toEqual(['change service_keys ci'])
    expect(await changes(WHOLE)).toEqual([])
    expect((await identity.findKey(hashApiKey(FIRST_KEY)))?.grant.expires_at).toBeNull()
    expect((await identity.findKey(hashApiKey(SECOND_KEY)))?.grant.expires_at).toBe(NOW + 24 * 3_600_000)
  })

  it('TEAM-12: is written as a file that finds nothing to do, without keys', async () => {
    await run(WHOLE)
    const text = await createExportSetup(createSetupTransaction(database, clock))(organization_id)
    expect(text).not.toContain(FIRST_KEY)
    expect(text).toContain('env: CI_KEY')
    expect(text).not.toContain('Not in it')
    const steps = await run(text)
    expect(steps).toHaveLength(8)
    expect(steps.filter((step) => !step.startsWith('keep'))).toEqual([])
    // What a file cannot say is named.
    const member = { user_id: newUuid(), email: 'eve@acme.test', full_name: null, created_at: NOW }
    const claimed = { organization_id, role: 'viewer', workspace_ids: null, email_claimed: true } as const
    await identity.addMember({ ...member, ...claimed }, actor)
    const again = await createExportSetup(createSetupTransaction(database, clock))(organization_id)
    expect(again).toContain('# Not in it: the member eve@acme.test, whose address nobody has proven.')
    expect(await changes(again)).toEqual([])
  })

  it('refuses what it does not know, with the line, and every secret that stands in it', async () => {
    const at = (line: string): string =>
      WHOLE.replace('{email: bob@acme.test, role: user, workspaces: [ml]}', line)
    expect(await refusal(at('{email: b@acme.test, rol: user}'))).toMatch(/line 9: members\[1\].*rol/)
    expect(await refusal('version: 1\nprises: []')).toMatch(/prises/)
    expect(await refusal('version: 1\nmembers: [')).toMatch(/line 2/)
    expect(await refusal(WHOLE.replace('1GiB', '9000000TiB'))).toMatch(/bytes_per_minute must be/)
    expect(await refusal('version: 2')).toMatch(/line 1: version/)
    const literal = await refusal(WHOLE.replace('{env: CI_KEY}', FIRST_KEY))
    expect(literal).toMatch(/line 11: service_keys\[0\]\.key must be \{env: NAME\}/)
    expect(literal).not.toContain(FIRST_KEY)
    expect(await refusal(WHOLE.replace('CI_KEY', 'MISSING'))).toMatch(/variable MISSING has no key/)
    expect(await refusal(WHOLE.replace('{env: CI_KEY}', '{file: /nowhere/key}'))).toMatch(/\/nowhere\/key/)
    environment['CI_KEY'] = 'short'
    expect(await refusal(WHOLE)).toMatch(/must have 16 to 128/)
    expect(await refusal('a: &a [1]\nb: [*a, *a]')).toMatch(/Aliases are not accepted/)
    expect(await refusal(WHOLE.replace('"^house-model-9$"', '"(a"'))).not.toContain('no refusal')
    expect(await refusal({ version: 1, members: [{ email: 'x', role: 'admin' }] })).toMatch(
      /members\[0\]\.email/,
    )
    expect((await state()).workspaces).toEqual(['Default'])
  })
})
