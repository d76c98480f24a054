import { beforeEach, expect, it } from 'vitest'
import { newTimeUuid, newUuid } from '../../../src/base/ids.ts'
import type { DeploymentStore } from '../../../src/deploy/stores/deployment-store.ts'
import {
  NO_COMMANDS,
  type StoredDeployment,
  type Revision,
  type RevisionLease,
} from '../../../src/deploy/model.ts'
import { createDeploymentStore } from '../../../src/storage/sql/deployments/deployment-store.ts'
import type { Database } from '../../../src/storage/sql/driver/database.ts'
import { describeOnSql } from '../../support/stores/sql/sql-databases.ts'
import { NOW, testClock } from '../../support/faults/test-clock.ts'

const LIMITS = { lease_ms: 1000, builds: 1 }
const PAGE = { limit: 100, offset: 0 }
const REVISION = {
  source_path: 'sources/s',
  config_path: 'langgraph.json',
  commands: { install_command: null, build_command: 'make' },
  source_sha256: 'hash',
  artifact_sha256: null,
  created_by: 'lsv2_…',
  rolled_back_from: null,
}

describeOnSql('deployments and revisions', (engine) => {
  let database: Database
  let store: DeploymentStore
  let now: number
  beforeEach(async () => {
    now = NOW
    database = await engine.openPlatform()
    store = createDeploymentStore(
      database,
      testClock(() => now),
    )
  })

  const create = (name: string, workspace_id = 'w'): Promise<StoredDeployment> =>
    store.create({
      id: newUuid(),
      organization_id: 'o',
      workspace_id,
      name,
      type: 'dev',
      secrets: [],
      commands: NO_COMMANDS,
    })
  const add = (deployment: StoredDeployment, fields: { artifact_sha256?: string } = {}): Promise<Revision> =>
    store.addRevision(deployment.id, { ...REVISION, ...fields })
  const statusOf = async ({ deployment_id, id }: Revision) =>
    (await store.revision(deployment_id, id))?.status
  async function claimed(): Promise<RevisionLease> {
    const lease = await store.claim(LIMITS)
    if (lease === undefined) throw new Error('nothing was claimed')
    return lease
  }
  async function accepted(revision: Revision, findings = {}): Promise<void> {
    const lease = await claimed()
    expect(lease.revision).toMatchObject({ id: revision.id, status: 'CREATING' })
    await store.advance(lease, 'accepted', findings)
  }

  it('P-33: a later revision has a greater id, also when the clock was set back', async () => {
    const made = await create('bot')
    const ids: string[] = []
    for (const at of [now, now, now - 5000]) {
      now = at
      ids.push((await add(made)).id)
    }
    expect(ids.toSorted()).toEqual(ids)
  })

  it('P-33: a later revision has a greater id than all before it, also those of a release that gave lower ones', async () => {
    const made = await create('bot')
    const first = await add(made)
    const second = await add(made)
    const lower = newTimeUuid(now - 5000)
    await database.query('UPDATE revisions SET id = ? WHERE id = ?', [lower, second.id])
    await database.query('UPDATE deployments SET latest_revision_id = ? WHERE id = ?', [lower, made.id])
    now -= 4000
    const { id } = await add(made)
    expect([lower, first.id, id].toSorted()).toEqual([lower, first.id, id])
  })

  it('P-1: a name is unique on the server, and free once its deployment is deleted', async () => {
    const made = await create('bot')
    await expect(create('bot', 'v')).rejects.toMatchObject({ code: 'deployment_name_taken' })
    expect(await store.named('bot')).toEqual(made)
    expect(await store.markDeleted('v', made.id)).toBe(false)
    expect(await store.markDeleted('w', made.id)).toBe(true)
    expect(await store.markDeleted('w', made.id)).toBe(false)
    expect(await store.get('w', made.id)).toBeUndefined()
    const again = await create('bot')
    expect(again.id).not.toBe(made.id)
    expect((await store.deleting()).map(({ id, name }) => [id, name])).toEqual([[made.id, 'bot']])
    await store.erase(made.id)
    expect(await store.deleting()).toEqual([])
    expect(await store.get('w', again.id)).toEqual(again)
  })

  it('lists have the deployments of one workspace, newest first, by name or part of a name', async () => {
    for (const name of ['a-bot', 'b-bot', 'c']) {
      now += 1
      await create(name)
    }
    await create('other-bot', 'v')
    const names = async (filter: { name?: string; name_contains?: string }, page = PAGE) =>
      (await store.list('w', { ...filter, ...page })).map(({ name }) => name)
    expect(await names({})).toEqual(['c', 'b-bot', 'a-bot'])
    expect(await names({}, { limit: 1, offset: 1 })).toEqual(['b-bot'])
    expect(await names({ name: 'c', name_contains: 'c' })).toEqual(['c'])
    expect(await names({ name_contains: 'bot' })).toEqual(['b-bot', 'a-bot'])
    expect(await names({ name_contains: '' })).toHaveLength(3)
    expect(await names({ name_contains: '%' })).toEqual([])
    expect(await names({ name: 'bot' })).toEqual([])
  })

  it('a revision goes from its creation to the active one, step by step', async () => {
    const deployment = await create('bot')
    const revision = await add(deployment)
    expect(revision).toMatchObject({ number: 1, status: 'CREATING', builds: 0 })
    expect(await store.get('w', deployment.id)).toMatchObject({ latest_revision_id: revision.id })
    await accepted(revision, { graphs: ['agent'], timings: { source: 5 } })
    const building = await claimed()
    expect(building.revision).toMatchObject({ status: 'BUILDING', builds: 1, graphs: ['agent'] })
    const findings = { artifact_sha256: 'made', timings: { build: 7 } }
    const built = await store.advance(building, 'ok', findings)
    expect(built?.revision).toMatchObject({
      status: 'AWAITING_DEPLOY',
      ...findings,
      timings: { source: 5, build: 7 },
    })
    expect(await store.active()).toEqual([])
    const deployed = await store.advance(await claimed(), 'ok', {})
    expect(deployed).toMatchObject({ revision: { status: 'DEPLOYED' }, skipped: [] })
    const [active] = await store.active()
    expect(active).toEqual({ deployment: await store.get('w', deployment.id), revision: deployed?.revision })
    expect(await store.claim(LIMITS)).toBeUndefined()
    await store.markDeleted('w', deployment.id)
    expect(await store.active()).toEqual([])
    await expect(add(deployment)).rejects.toMatchObject({ code: 'not_found' })
  })

  it('P-20: a revision keeps the commands that it was made with', async () => {
    const deployment = await create('bot')
    expect(deployment.commands).toEqual(NO_COMMANDS)
    const revision = await add(deployment)
    expect(revision.commands).toEqual(REVISION.commands)
    const commands = { install_command: 'make deps', build_command: null }
    await store.replaceCommands(deployment.id, commands)
    expect(await store.get('w', deployment.id)).toMatchObject({ commands })
    expect(await store.revision(deployment.id, revision.id)).toEqual(revision)
    await store.replaceCommands(deployment.id, NO_COMMANDS)
    expect(await store.get('w', deployment.id)).toMatchObject({ commands: NO_COMMANDS })
  })

  it('P-5: a lease that was lost writes nothing', async () => {
    const deployment = await create('bot')
    const revision = await add(deployment)
    const lost = await claimed()
    expect(await store.renew(lost, 5000)).toBe(true)
    now += 4999
    expect(await store.takeBack({ all: false })).toEqual([])
    now += 1
    expect(await store.takeBack({ all: false })).toMatchObject([{ id: revision.id, status: 'CREATING' }])
    expect(await store.renew(lost, 5000)).toBe(false)
    expect(await store.advance(lost, 'refused', {})).toBeUndefined()
    await accepted(revision)
    expect(await statusOf(revision)).toBe('AWAITING_BUILD')
  })

  it('a build during which the server died is tried once more', async () => {
    const revision = await add(await create('bot'))
    await accepted(revision)
    for (const status of ['AWAITING_BUILD', 'BUILD_FAILED']) {
      await claimed()
      expect(await store.takeBack({ all: true })).toMatchObject([{ status }])
    }
    const failed = await store.revision(revision.deployment_id, revision.id)
    expect(failed?.error?.message).toMatch(/twice/)
    expect(await store.claim(LIMITS)).toBeUndefined()
  })

  it('P-6: one revision of a deployment is worked on at a time, and one build on the server', async () => {
    const [bot, other] = [await create('bot'), await create('other')]
    const first = await add(bot)
    await accepted(first)
    const building = await claimed()
    now += 1
    const elsewhere = await add(other)
    await accepted(elsewhere)
    expect(await store.claim(LIMITS)).toBeUndefined()
    now += 1
    const second = await add(bot)
    await accepted(second)
    expect(await statusOf(second)).toBe('QUEUED')
    now += 1
    const third = await add(bot)
    await accepted(third)
    expect(await statusOf(second)).toBe('SKIPPED')
    expect(await statusOf(first)).toBe('BUILDING')
    const parallel = await store.claim({ ...LIMITS, builds: 2 })
    expect(parallel?.revision.id).toBe(elsewhere.id)
    await store.advance(building, 'error', { error: { code: 'build_failed', message: 'x' } })
    expect((await store.claim({ ...LIMITS, builds: 2 }))?.revision).toMatchObject({
      id: third.id,
      status: 'BUILDING',
    })
  })

  it('of several claims at once, one gets the revision', async () => {
    await add(await create('bot'))
    const leases = await Promise.all([1, 2, 3].map(() => store.claim(LIMITS)))
    expect(leases.filter((lease) => lease !== undefined)).toHaveLength(1)
  })

  it('P-22: the last artifacts are counted, not the revisions that used them', async () => {
    const made = await create('bot')
    for (const artifact_sha256 of ['a', 'b', 'c', 'c', 'b', 'c']) await add(made, { artifact_sha256 })
    await add(made)
    const newest = async (filter: { limit: number; status?: 'DEPLOYED' }) =>
      (await store.newestOfArtifacts(made.id, filter)).map(({ number, artifact_sha256 }) => [
        number,
        artifact_sha256,
      ])
    expect(await newest({ limit: 2 })).toEqual([
      [6, 'c'],
      [5, 'b'],
    ])
    expect(await newest({ limit: 5 })).toContainEqual([1, 'a'])
    expect(await newest({ limit: 5, status: 'DEPLOYED' })).toEqual([])
  })

  it('P-22: an accepted revision with an artifact is not built', async () => {
    const revision = await add(await create('bot'), { artifact_sha256: 'made' })
    await accepted(revision)
    expect((await claimed()).revision).toMatchObject({ status: 'DEPLOYING', builds: 0 })
  })

  it('a deployment is busy until all its revisions have ended', async () => {
    const [bot, other] = [await create('bot'), await create('other')]
    expect(await store.isBusy(bot.id)).toBe(false)
    const first = await add(bot)
    await accepted(first)
    const building = await claimed()
    const second = await add(bot)
    await store.interrupt(bot.id, second.id)
    expect([await store.isBusy(bot.id), await store.isBusy(other.id)]).toEqual([true, false])
    await store.advance(building, 'error', { error: { code: 'build_failed', message: 'x' } })
    expect(await store.isBusy(bot.id)).toBe(false)
  })

  it('an interrupted revision ends at once, even if it is leased', async () => {
    const revision = await add(await create('bot'))
    await accepted(revision)
    const building = await claimed()
    const ended = await store.interrupt(revision.deployment_id, revision.id)
    expect(ended).toMatchObject({ status: 'INTERRUPTED' })
    expect(await store.advance(building, 'ok', { artifact_sha256: 'made' })).toBeUndefined()
    expect(await store.interrupt(revision.deployment_id, revision.id)).toBeUndefined()
    expect(await statusOf(revision)).toBe('INTERRUPTED')
  })

  it('revisions are listed newest first, by state', async () => {
    const deployment = await create('bot')
    const made = [await add(deployment), await add(deployment), await add(deployment)]
    await store.interrupt(deployment.id, made[1]!.id)
    const numbers = async (filter: object) =>
      (await store.revisions(deployment.id, { ...PAGE, ...filter })).map(({ number }) => number)
    expect(await numbers({})).toEqual([3, 2, 1])
    expect(await numbers({ limit: 1, offset: 1 })).toEqual([2])
    expect(await numbers({ status: 'INTERRUPTED' })).toEqual([2])
  })

  it('a new list of secrets replaces all', async () => {
    const { id } = await create('bot')
    const secrets = [{ name: 'A', sealed: 'x', updated_at: 1 }]
    await store.replaceSecrets(id, [{ name: 'B', sealed: 'y', updated_at: 1 }])
    await store.replaceSecrets(id, secrets)
    expect(await store.get('w', id)).toHaveProperty('secrets', secrets)
  })
})
