import { expect, it } from 'vitest'
import { createLogger } from '../base/log.ts'
import type { Revision } from './model.ts'
import { createTidying, type TidyingParts } from './tidy-builds.ts'

/** A server whose deployment has one artifact; `world.isBusy`: a revision of it has not ended. */
function server() {
  const world = { isBusy: false, discarded: [] as string[], pruned: [] as unknown[] }
  const built = { deployment_id: 'd', artifact_sha256: 'a', source_path: 's' }
  const tidy = createTidying({
    store: {
      isBusy: async () => world.isBusy,
      newestOfArtifacts: async () => [built],
      revisions: async () => [],
      revision: async () => undefined,
    },
    artifacts: {
      discard: async (id: string) => void world.discarded.push(id),
      prune: async (_id: string, kept: unknown) => void world.pruned.push(kept),
    },
    files: { prune: async (_id: string, kept: unknown) => void world.pruned.push(kept) },
    hosting: { status: () => undefined },
    logger: createLogger({ level: 'silent' }),
  } as unknown as TidyingParts)
  return { world, built, tidy }
}

const ENDED = { id: 'r9', deployment_id: 'd' } as Revision

it('P-22: no build is removed while another revision is worked on, whose build may have no row yet', async () => {
  const { world, tidy } = server()
  world.isBusy = true
  await tidy(ENDED)
  expect(world).toMatchObject({ discarded: ['r9'], pruned: [] })
})

it('P-22: builds and files that no revision needs are removed when the last revision has ended', async () => {
  const { world, built, tidy } = server()
  await tidy(ENDED)
  expect(world.discarded).toEqual(['r9'])
  expect(world.pruned).toEqual([[built, built], new Set(['s', 'artifacts/d/a'])])
})
