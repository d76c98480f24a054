import { expect, it } from 'vitest'
import { createLogger } from '../../base/log.ts'
import type { Revision, StoredDeployment } from '../../deploy/model.ts'
import { restoreDeployments, type RestoreParts, startUntilServed } from './restore-deployments.ts'

const deploymentNamed = (name: string) =>
  ({ id: name, name, workspace_id: 'w', type: 'dev' }) as StoredDeployment

/** Starts active revisions; the revision of `bot` fails to start `failures` times. */
function startedWith(failures: number) {
  const ending = new AbortController()
  const tried: string[] = []
  const told: string[] = []
  const serving = new Set<string>()
  const active = ['bot', 'other'].map((name) => ({
    deployment: deploymentNamed(name),
    revision: { id: `revision of ${name}` } as Revision,
  }))
  const parts: RestoreParts = {
    store: { active: async () => [...active], inactive: async () => [deploymentNamed('new')] },
    hosting: {
      announce: ({ name }, reason) => void told.push(`${name}: ${reason}`),
      status: (id) =>
        ({ active: serving.has(id) ? {} : undefined }) as ReturnType<RestoreParts['hosting']['status']>,
    },
    work: {
      async activate({ name }) {
        tried.push(name)
        if (name === 'bot' && failures-- > 0) throw new Error('No host could be started.')
        serving.add(name)
        return { graphs: [], started_ms: 0, checked_ms: 0, draining_runs: 0 }
      },
    },
    log: { write: (_, { message }) => void told.push(message) },
    logger: createLogger({ level: 'silent' }),
    signal: ending.signal,
    retry_ms: 1,
  }
  return { parts, active, tried, told, serving, ending }
}

it('P-36: a revision that cannot start harms no other, and is tried again until it serves', async () => {
  const { parts, tried, told, serving } = startedWith(3)
  await restoreDeployments(parts)
  expect(serving).toEqual(new Set(['other']))
  expect(told).toContain('new: No revision of it has started.')
  expect(told).toContain('No host could be started. The start is tried again in 1 s.')
  await expect.poll(() => [...serving].toSorted()).toEqual(['bot', 'other'])
  expect(tried.filter((name) => name === 'bot')).toHaveLength(4)
})

it('P-36: a revision that is not the active one any more is not tried again', async () => {
  const { parts, active, tried, ending } = startedWith(Number.POSITIVE_INFINITY)
  let reads = 0
  const store = {
    ...parts.store,
    active: async () => {
      if (++reads > 2) active.splice(0)
      return [...active]
    },
  }
  await restoreDeployments({ ...parts, store })
  await expect.poll(() => reads).toBe(3)
  expect(tried).toEqual(['bot', 'other', 'bot'])
  ending.abort()
})

it('P-37: a revision that cannot start is tried again by what follows other servers, and not twice', async () => {
  const { parts, active, tried, serving } = startedWith(2)
  await restoreDeployments({ ...parts, isFollowed: true })
  for (const one of active.slice(0, 1)) await startUntilServed(parts, one)
  expect(tried).toEqual(['bot', 'other', 'bot', 'bot'])
  expect(serving).toEqual(new Set(['other', 'bot']))
})

it('P-37: a revision that another one has replaced during its start is not switched to', async () => {
  const { parts, active, told } = startedWith(0)
  const [bot] = active
  const switched: string[] = []
  const activate: RestoreParts['work']['activate'] = async (_, { id }, { commit }) => {
    active.splice(0, 1, { ...bot!, revision: { id: 'a later revision of bot' } as Revision })
    if ((await commit?.({ graphs: [], started_ms: 0, checked_ms: 0 })) === false)
      throw new DOMException('The revision is not wanted any more.', 'AbortError')
    switched.push(id)
    return { graphs: [], started_ms: 0, checked_ms: 0, draining_runs: 0 }
  }
  await startUntilServed({ ...parts, work: { activate } }, bot!)
  expect([switched, told]).toEqual([[], []])
  await startUntilServed({ ...parts, work: { activate } }, active[0]!)
  expect(switched).toEqual(['a later revision of bot'])
})
