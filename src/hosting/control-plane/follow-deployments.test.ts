import { describe, expect, it, vi } from 'vitest'
import { createLogger } from '../../base/log.ts'
import type { HostedDeployment, HostingStatus } from '../../deploy/hosting.ts'
import type { Revision, StoredDeployment } from '../../deploy/model.ts'
import { type FollowServersParts, followDeployments } from './follow-deployments.ts'
import { eventually } from '../../../test/support/eventually.ts'

/** A server that serves the revisions that it activates, and the store that it shares with others. */
function server() {
  const served = new Map<string, string>()
  const known = new Map<string, HostedDeployment>()
  const stored = new Map<string, string>()
  const working = new Set<string>()
  const deploymentOf = (id: string) => ({ id, name: id, type: 'dev' }) as StoredDeployment
  const activate = vi.fn<FollowServersParts['work']['activate']>(async ({ id }, revision) => {
    served.set(id, revision.id)
    return { graphs: [], started_ms: 0, checked_ms: 0, draining_runs: 0 }
  })
  const released: string[] = []
  const removed: string[] = []
  const started: string[] = []
  const follow = followDeployments({
    store: {
      active: async () =>
        [...stored].map(([id, revision_id]) => ({
          deployment: deploymentOf(id),
          revision: { id: revision_id } as Revision,
        })),
      inactive: async () => [],
      find: async (id) => (stored.has(id) ? deploymentOf(id) : undefined),
    },
    hosting: {
      announce: (deployment) => void known.set(deployment.id, deployment),
      known: () => [...known.values()],
      status: (id) =>
        known.has(id)
          ? ({ active: served.has(id) ? { revision_id: served.get(id) } : undefined } as HostingStatus)
          : undefined,
      release: async (id) => void (known.delete(id) && released.push(id)),
    },
    work: { activate },
    artifacts: { removeAll: async (id) => void removed.push(id) },
    worker: { works: (id) => working.has(id) },
    started: ({ id }) => void started.push(id),
    log: { write: () => undefined },
    logger: createLogger({ level: 'silent' }),
    signal: new AbortController().signal,
  })
  return { follow, stored, served, working, activate, released, removed, started }
}

describe('P-37: followDeployments', () => {
  it('serves what others have made active, once, and not what this server is starting itself', async () => {
    const { follow, stored, served, working, activate, started } = server()
    stored.set('a', 'a1').set('b', 'b1')
    working.add('b1')
    await follow()
    await eventually(async () => expect(started).toEqual(['a1']))
    await follow()
    expect(activate).toHaveBeenCalledTimes(1)
    stored.set('a', 'a2')
    working.clear()
    await Promise.all([follow(), follow()])
    await eventually(async () =>
      expect([...served]).toEqual([
        ['a', 'a2'],
        ['b', 'b1'],
      ]),
    )
    expect(activate).toHaveBeenCalledTimes(3)
  })

  it('ends what others have deleted, with its files', async () => {
    const { follow, stored, released, removed, started } = server()
    stored.set('a', 'a1')
    await follow()
    await eventually(async () => expect(started).toEqual(['a1']))
    stored.clear()
    await follow()
    expect([released, removed]).toEqual([['a'], ['a']])
  })
})
