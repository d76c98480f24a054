import { afterEach, beforeEach, expect, it } from 'vitest'
import { startForgingProvider, type ForgingProvider } from '../../../test/support/sign-in/forging-provider.ts'
import { testClock } from '../../../test/support/faults/test-clock.ts'
import { createLogger } from '../../base/log.ts'
import { createProvider } from './provider.ts'
import { readProvider } from './provider-settings.ts'

let provider: ForgingProvider
beforeEach(async () => {
  provider = await startForgingProvider()
})
afterEach(() => provider.close())

const isAvailable = async (issuer_url: string): Promise<boolean> => {
  const read = readProvider({ id: 'custom-oidc', issuer_url, client_id: 'weir' }, String)
  expect(read.mistakes).toEqual([])
  const parts = { clock: testClock(), logger: createLogger({ level: 'silent' }) }
  return await createProvider(read.provider, parts).isAvailable()
}

it('TEAM-1: the issuer of the discovery document must be the text of the setting, to the last slash', async () => {
  const { issuer } = provider
  expect(await isAvailable(issuer)).toBe(true)
  expect(await isAvailable(`${issuer}/`)).toBe(false)
  provider.issuer = 'http://localhost:1'
  expect(await isAvailable(issuer)).toBe(false)
})
