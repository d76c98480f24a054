import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { Revision, StoredDeployment } from './model.ts'
import { createRevisionSteps, type RevisionStepsOptions } from './revision-steps.ts'

let folder: string
beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), 'weir-steps-'))))
afterEach(() => rm(folder, { recursive: true }))

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
