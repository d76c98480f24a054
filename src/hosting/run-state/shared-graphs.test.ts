import { expect, it, onTestFinished } from 'vitest'
import { createLogger } from '../../base/log.ts'
import { GRAPHS_KEPT_MS } from '../../storage/sql/server-registry.ts'
import { shareGraphs } from './shared-graphs.ts'
import { eventually } from '../../../test/support/eventually.ts'
import { NOW, testClock } from '../../../test/support/faults/test-clock.ts'

/** A server with the graph `own`; a run waits for the graph `other`. */
function server() {
  const known = new Set<string>()
  const time = { now: NOW }
  const looks = { count: 0 }
  const stops = new AsyncDisposableStack()
  onTestFinished(() => stops.disposeAsync())
  const waitingGraphs = async (): Promise<string[]> => {
    looks.count++
    return ['other']
  }
  const { claimed } = shareGraphs({
    deployment: { name: 'd', deployment_id: 'id' },
    own: () => ['own'],
    servers: { graphs: async () => known },
    store: { waitingGraphs },
    clock: testClock(() => {
      looks.count++
      return time.now
    }),
    logger: createLogger({ level: 'silent' }),
    stops,
    everyMs: 1,
  })
  /** Resolves when the server has read the graphs again. */
  const looked = async (): Promise<void> => {
    const wanted = looks.count + 4
    await eventually(async () => expect(looks.count).toBeGreaterThanOrEqual(wanted))
  }
  return { claimed, known, time, looked }
}

it('a server claims runs of graphs that no server has, once it has run for ten minutes itself', async () => {
  const { claimed, time, looked } = server()
  time.now += GRAPHS_KEPT_MS - 1
  await looked()
  expect(claimed()).toEqual(['own'])
  time.now += 1
  await eventually(async () => expect(claimed()).toEqual(['own', 'other']))
})

it('a server leaves the runs of a graph to the servers that have it', async () => {
  const { claimed, known, time, looked } = server()
  known.add('d/other')
  time.now += GRAPHS_KEPT_MS
  await looked()
  expect(claimed()).toEqual(['own'])
  known.clear()
  await eventually(async () => expect(claimed()).toEqual(['own', 'other']))
})
