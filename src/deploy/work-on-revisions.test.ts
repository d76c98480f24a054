import { beforeEach, describe, expect, it, vi } from 'vitest'
import { AppError } from '../base/errors.ts'
import { newUuid } from '../base/ids.ts'
import { createDeploymentStore } from '../storage/sql/deployments/deployment-store.ts'
import { migrate } from '../storage/sql/driver/migrate.ts'
import { openSqlite } from '../storage/sql/driver/sqlite.ts'
import { createLogger } from '../base/log.ts'
import { NO_COMMANDS, type Revision } from './model.ts'
import type { DeploymentStore } from './stores/deployment-store.ts'
import { createRevisionWorker, type RevisionSteps, type RevisionWorker } from './work-on-revisions.ts'
import { testClock } from '../../test/support/faults/test-clock.ts'

const LEASE_MS = 60

describe('the worker of revisions', () => {
  let store: DeploymentStore
  let steps: RevisionSteps
  let states: string[]
  /** The clock stands still, so that no lease ends on a busy machine. */
  let now: number
  beforeEach(async () => {
    now = Date.UTC(2026, 10, 20)
    const database = openSqlite(':memory:')
    await migrate(database)
    store = createDeploymentStore(
      database,
      testClock(() => now),
    )
    states = []
    steps = {
      create: async () => ({ graphs: ['agent'] }),
      build: async () => ({ artifact_sha256: 'made' }),
      deploy: async () => ({}),
    }
  })
  const createWorker = (changes: Partial<RevisionSteps> = {}): RevisionWorker =>
    createRevisionWorker({
      store,
      steps: { ...steps, ...changes },
      changed: ({ number, status }) => states.push(`${number} ${status}`),
      lease_ms: LEASE_MS,
      builds: 1,
      logger: createLogger({ level: 'silent' }),
    })
  async function addDeployment(name = 'bot') {
    const made = {
      id: newUuid(),
      organization_id: 'o',
      workspace_id: 'w',
      name,
      type: 'dev',
      secrets: [],
      commands: NO_COMMANDS,
    } as const
    return store.create({ ...made, secrets: [] })
  }
  const add = (deployment_id: string): Promise<Revision> =>
    store.addRevision(deployment_id, {
      source_path: 's',
      config_path: 'langgraph.json',
      commands: NO_COMMANDS,
      source_sha256: null,
      artifact_sha256: null,
      created_by: 'k',
      rolled_back_from: null,
    })
  const read = ({ deployment_id, id }: Revision) => store.revision(deployment_id, id)
  const hanging = (signal: AbortSignal): Promise<never> =>
    new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))

  it.each([
    ['create', 'CREATE_FAILED'],
    ['build', 'BUILD_FAILED'],
    ['deploy', 'DEPLOY_FAILED'],
  ] as const)('a disk that is full while it works (%s) is the reason', async (step, status) => {
    const full = async () => {
      throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' })
    }
    const revision = await add((await addDeployment()).id)
    await createWorker({ [step]: full }).wake()
    await expect.poll(async () => (await read(revision))?.status).toBe(status)
    expect((await read(revision))?.error).toMatchObject({ code: 'disk_full' })
  })

  it('a revision is carried through its steps, and the times that they took are kept', async () => {
    const revision = await add((await addDeployment()).id)
    const worker = createWorker()
    await worker.wake()
    await expect.poll(async () => (await read(revision))?.status).toBe('DEPLOYED')
    expect(states).toEqual(
      ['CREATING', 'AWAITING_BUILD', 'BUILDING', 'AWAITING_DEPLOY', 'DEPLOYING', 'DEPLOYED'].map(
        (s) => `1 ${s}`,
      ),
    )
    const { timings, graphs, artifact_sha256 } = (await read(revision))!
    expect(Object.keys(timings).toSorted()).toEqual(['build', 'create', 'deploy'])
    expect({ graphs, artifact_sha256 }).toEqual({ graphs: ['agent'], artifact_sha256: 'made' })
    await worker.stop()
  })

  it.each([
    ['create', 'CREATE_FAILED'],
    ['build', 'BUILD_FAILED'],
    ['deploy', 'DEPLOY_FAILED'],
  ] as const)(
    'P-34: a failure of the step %s is kept with its place; the active revision stays',
    async (step, end) => {
      const { id } = await addDeployment()
      const first = await add(id)
      const good = createWorker()
      await good.wake()
      await expect.poll(async () => (await read(first))?.status).toBe('DEPLOYED')
      await good.stop()
      const details = { file: 'agent.ts', line: 12, graph: 'agent' }
      const worker = createWorker({
        [step]: async () =>
          Promise.reject(new AppError('deployment_failed', { message: 'No module', details })),
      })
      const second = await add(id)
      await worker.wake()
      await expect.poll(async () => (await read(second))?.status).toBe(end)
      const error = { code: 'deployment_failed', message: 'No module', file: 'agent.ts', line: 12 }
      expect((await read(second))?.error).toEqual(error)
      expect(await store.get('w', id)).toMatchObject({ active_revision_id: first.id })
      await worker.stop()
    },
  )

  it('P-5: a step that lasts longer than its lease keeps it', async () => {
    const revision = await add((await addDeployment()).id)
    const gate = Promise.withResolvers<object>()
    const renew = vi.spyOn(store, 'renew')
    const worker = createWorker({ build: () => gate.promise })
    await worker.wake()
    await expect.poll(async () => (await read(revision))?.status).toBe('BUILDING')
    for (const begun = now; now <= begun + 3 * LEASE_MS; ) {
      now += LEASE_MS / 2
      renew.mockClear()
      await expect.poll(() => renew.mock.calls.length).toBeGreaterThan(0)
    }
    expect(await store.takeBack({ all: false })).toEqual([])
    gate.resolve({ artifact_sha256: 'made' })
    await expect.poll(async () => (await read(revision))?.status).toBe('DEPLOYED')
    await worker.stop()
  })

  it('an interrupted revision ends its step, and the next one begins', async () => {
    const { id } = await addDeployment()
    const first = await add(id)
    const worker = createWorker({
      build: ({ number }, { signal }) =>
        number === 1 ? hanging(signal) : Promise.resolve({ artifact_sha256: 'made' }),
    })
    await worker.wake()
    await expect.poll(async () => (await read(first))?.status).toBe('BUILDING')
    const second = await add(id)
    await worker.wake()
    await expect.poll(async () => (await read(second))?.status).toBe('QUEUED')
    await worker.interrupted((await store.interrupt(id, first.id))!)
    await expect.poll(async () => (await read(second))?.status).toBe('DEPLOYED')
    expect((await read(first))?.status).toBe('INTERRUPTED')
    expect(states).toContain('1 INTERRUPTED')
    await worker.stop()
  })

  it('P-6: a skipped revision is reported', async () => {
    const { id } = await addDeployment()
    const gate = Promise.withResolvers<object>()
    const worker = createWorker({
      build: ({ number }) => (number === 1 ? gate.promise : Promise.resolve({})),
    })
    const revisions: Revision[] = []
    for (const status of ['BUILDING', 'QUEUED', 'QUEUED']) {
      const revision = await add(id)
      revisions.push(revision)
      await worker.wake()
      await expect.poll(async () => (await read(revision))?.status).toBe(status)
    }
    expect((await read(revisions[1]!))?.status).toBe('SKIPPED')
    expect(states).toContain('2 SKIPPED')
    gate.resolve({})
    await expect.poll(async () => (await read(revisions[2]!))?.status).toBe('DEPLOYED')
    await worker.stop()
  })

  it('P-34: a revision that was interrupted while it was checked has no effect', async () => {
    const { id } = await addDeployment()
    const revision = await add(id)
    const checked = Promise.withResolvers<void>()
    const effects: boolean[] = []
    const worker = createWorker({
      async deploy(_, { finish }) {
        await checked.promise
        effects.push(await finish({}))
        return undefined
      },
    })
    await worker.wake()
    await expect.poll(async () => (await read(revision))?.status).toBe('DEPLOYING')
    const interrupted = (await store.interrupt(id, revision.id))!
    const ended = worker.interrupted(interrupted)
    checked.resolve()
    await ended
    expect(effects).toEqual([false])
    expect((await read(revision))?.status).toBe('INTERRUPTED')
    expect(await store.active()).toEqual([])
    await worker.stop()
  })

  it('P-34: the end of a step is stored before the step takes effect', async () => {
    const revision = await add((await addDeployment()).id)
    const stored: unknown[] = []
    const worker = createWorker({
      async deploy(_, { finish }) {
        stored.push(await finish({ graphs: ['agent'] }), (await read(revision))?.status)
        return undefined
      },
    })
    await worker.wake()
    await expect.poll(() => stored).toEqual([true, 'DEPLOYED'])
    await worker.stop()
    expect(states.filter((state) => state === '1 DEPLOYED')).toHaveLength(1)
  })

  it('what a stopped worker leaves is taken back by the next start and goes on', async () => {
    const revision = await add((await addDeployment()).id)
    const worker = createWorker({ deploy: (_, { signal }) => hanging(signal) })
    await worker.wake()
    await expect.poll(async () => (await read(revision))?.status).toBe('DEPLOYING')
    await worker.stop()
    expect(await read(revision)).toMatchObject({ status: 'DEPLOYING', error: null })
    states = []
    const next = createWorker()
    await next.takeBack({ all: true })
    expect(states).toEqual(['1 AWAITING_DEPLOY'])
    await next.wake()
    await expect.poll(async () => (await read(revision))?.status).toBe('DEPLOYED')
    await next.stop()
  })
})
