import { afterAll, beforeAll, expect } from 'vitest'
import { clientOf, startWeir, type WeirProcess } from './server.ts'
import { shared } from './shared.ts'

/** A shared server. */
export type UsedWeir = Pick<
  WeirProcess,
  'url' | 'deploymentUrl' | 'otlpGrpcUrl' | 'key' | 'request' | 'json' | 'stop'
>

/**
 * A server for exclusive use until `stop`, with an empty organization. It hosts the graphs of test/fixtures/graphs, or
 * with `/weir/deployment` those of `folder`. `stop` gives it back and resolves with 0, or rejects when the server has
 * logged an error.
 */
export async function borrowWeir(
  path: '/weir' | '/weir/deployment' = '/weir',
  folder?: string,
): Promise<UsedWeir> {
  const { id, url, deploymentUrl, otlpGrpcUrl, key } = await shared(path, folder)
  return {
    ...clientOf(url, key),
    deploymentUrl,
    otlpGrpcUrl,
    async stop() {
      await shared('/weir/give-back', id)
      return 0
    },
  }
}

/**
 * One server for the tests of a describe block or a file: a new server if `env` is given, otherwise a shared one. The
 * tests fail if the server's log has an error. Call `current()` inside tests and hooks only.
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
