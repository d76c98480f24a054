import { mkdir, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, expect, it, vi } from 'vitest'
import { shareAgain } from './share-again.ts'
import { createLogger } from '../base/log.ts'
import type { Revision, StoredDeployment } from './model.ts'
import { createRevisionSteps, type RevisionStepsOptions } from './revision-steps.ts'
import { newFolder } from '../../test/support/folder.ts'

let folder: string
beforeEach(async () => void (folder = await newFolder()))

it('a langgraph.json that a build has made a link to a file of others is not read (P-23)', async () => {
  const [own, others] = [join(folder, 'own'), join(folder, 'others')]
  for (const dir of [own, others]) {
    await mkdir(dir)
    const file = { graphs: { g: './g.ts:graph' }, env: { OF: dir } }
    await writeFile(join(dir, 'langgraph.json'), JSON.stringify(file))
  }
  const activated = vi.fn(async (..._given: unknown[]) => ({}))
  const { activate } = createRevisionSteps({
    artifacts: { path: () => own, has: async () => true },
    hosting: { activate: activated },
    log: { write: () => undefined },
    languageOf: () => 'javascript',
    switched: () => undefined,
  } as unknown as RevisionStepsOptions)
  const revision = { id: 'r', number: 1, artifact_sha256: 'a', config_path: 'langgraph.json' } as Revision
  const deployment = { id: 'd', name: 'd', type: 'dev', secrets: [] } as unknown as StoredDeployment
  const begin = () => activate(deployment, revision, {} as Parameters<typeof activate>[2])
  await begin()
  expect(activated.mock.lastCall?.[1]).toMatchObject({ env: { OF: own } })

  await rm(join(own, 'langgraph.json'))
  await symlink(join(others, 'langgraph.json'), join(own, 'langgraph.json'))
  await expect(begin()).rejects.toMatchObject({
    code: 'deployment_failed',
    message: expect.stringContaining('leads out'),
  })
  expect(activated).toHaveBeenCalledOnce()
})

it('P-32: open pages are told of a revision once it serves, and not when it cannot be started', async () => {
  await writeFile(join(folder, 'langgraph.json'), JSON.stringify({ graphs: { g: './g.ts:graph' } }))
  const order: string[] = []
  const activated = vi.fn(async (..._given: unknown[]) => void order.push('serves'))
  const { deploy } = createRevisionSteps({
    store: { find: async () => DEPLOYMENT },
    artifacts: { path: () => folder, has: async () => true },
    hosting: { activate: activated },
    log: { write: () => undefined },
    languageOf: () => 'javascript',
    switched: () => order.push('told'),
  } as unknown as RevisionStepsOptions)
  const context = { signal, finish: async () => true }
  await deploy(REVISION, context)
  expect(order).toEqual(['serves', 'told'])
  activated.mockRejectedValueOnce(new Error('it cannot be started'))
  await expect(deploy(REVISION, context)).rejects.toThrow('cannot be started')
  expect(order).toHaveLength(2)
})

/** The steps of a server that has a build of `REVISION`, and whose shared store fails until `back` is called. */
async function openSharing(isAlone: boolean) {
  const kept = join(folder, 'kept')
  await mkdir(kept)
  await writeFile(join(kept, 'langgraph.json'), JSON.stringify({ graphs: { g: './g.ts:graph' } }))
  const put = vi.fn(async (..._given: unknown[]) => Promise.reject(new Error('the store is away')))
  const written = vi.fn<(...given: unknown[]) => void>()
  const steps = createRevisionSteps({
    store: { find: async () => DEPLOYMENT },
    uploads: { share: async () => undefined },
    artifacts: {
      path: () => kept,
      has: async () => true,
      building: () => join(folder, 'building'),
    },
    files: { has: async () => false, put },
    isAlone: async () => isAlone,
    log: { write: written },
    buildEnvironment: () => ({ PATH: process.env['PATH'] ?? '' }),
    record: async () => async () => undefined,
  } as unknown as RevisionStepsOptions)
  return { steps, put, written, back: () => put.mockImplementation(async () => undefined as never) }
}

const DEPLOYMENT = { id: 'd', name: 'd', type: 'dev', secrets: [] } as unknown as StoredDeployment
const REVISION = {
  id: 'r',
  deployment_id: 'd',
  number: 1,
  artifact_sha256: 'a',
  config_path: 'langgraph.json',
  source_path: 's',
} as Revision
const { signal } = new AbortController()

it('P-37: on a server that is alone a build whose files cannot be shared is good, and is shared later', async () => {
  const { steps, put, written, back } = await openSharing(true)
  const context = { signal, finish: async () => true }
  expect(await steps.create(REVISION, context)).toEqual({ artifact_sha256: 'a' })
  expect(written).toHaveBeenCalledWith('d', expect.objectContaining({ level: 'WARNING', kind: 'build' }))
  const store = { active: async () => [{ deployment: DEPLOYMENT, revision: REVISION }] }
  const logger = createLogger({ level: 'silent' })
  const share = shareAgain({ store, work: steps, logger, signal })
  await share()
  back()
  // After the failure, the next call does nothing.
  await share()
  expect(put).toHaveBeenCalledTimes(2)
  await Promise.all([share(), share()])
  expect(put.mock.calls.map(([id, path]) => [id, path])).toEqual([
    ['d', 'artifacts/d/a'],
    ['d', 'artifacts/d/a'],
    ['d', 'artifacts/d/a'],
  ])
  await expect(put.mock.results.at(-1)?.value).resolves.toBeUndefined()
})

it('P-37: beside other servers a build whose files cannot be shared fails, and says why', async () => {
  const { steps } = await openSharing(false)
  await expect(steps.create(REVISION, { signal, finish: async () => true })).rejects.toMatchObject({
    code: 'build_failed',
    message: expect.stringContaining('BLOB_URL'),
  })
})
