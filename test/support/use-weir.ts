import { afterAll, beforeAll, expect } from 'vitest'
import { clientOf, startWeir, type WeirProcess } from './server.ts'
import { shared } from './shared.ts'

/** A server as tests see it that share it. */
export type UsedWeir = Pick<WeirProcess, 'url' | 'deploymentUrl' | 'key' | 'request' | 'json' | 'stop'>

/**
 * A server that no other test uses until `stop`, and an organization in which nothing has happened. `stop` gives it back
 * and answers 0; it rejects when the server logged an error meanwhile. It hosts the graphs of test/fixtures/graphs.
 */
export async function borrowWeir(path: '/weir' | '/weir/deployment' = '/weir'): Promise<UsedWeir> {
  const { id, url, deploymentUrl, key } = await shared(path)
  return {
    ...clientOf(url, key),
    deploymentUrl,
    async stop() {
      await shared('/weir/give-back', id)
      return 0
    },
  }
}

/**
 * One server for the tests of a describe block (or file): there before them, and after them without an error in its log.
 * With settings of its own it is started for them, else it is borrowed. Read `current()` inside tests and hooks only.
 */
export function useWeir(env?: Record<string, string>): { current: () => UsedWeir } {
  let weir: UsedWeir | undefined
  beforeAll(async () => {
    weir = await (env === undefined ? borrowWeir() : startWeir(env))
  })
  afterAll(async () => {
    expect(await weir?.stop()).toBe(0)
  })
  return {
    current() {
      if (weir === undefined) throw new Error('the server has not started')
      return weir
    },
  }
}
