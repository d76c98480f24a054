import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect } from 'vitest'
import { startWeir } from '../support/servers/server.ts'
import type { ClientWorld } from './run-client.ts'
import { startMeteredVendor } from './vendor/metered-vendor.ts'

/**
 * Registers a Weir, a vendor and a home folder for the tests of the calling suite. Returns a function that gives them.
 */
export function useClients(): () => ClientWorld {
  let world: ClientWorld
  beforeAll(async () => {
    const home = await mkdtemp(join(tmpdir(), 'weir-instrumentations-'))
    world = { weir: await startWeir(), vendor: await startMeteredVendor(), home }
  })
  afterAll(async () => {
    await world.vendor.stop()
    expect(await world.weir.stop()).toBe(0)
    await rm(world.home, { recursive: true, force: true })
  })
  return () => world
}
