import { afterEach, expect, it } from 'vitest'
import { type AppFixture, startApp } from '../../../../../test/support/servers/app-fixture.ts'
import { newUuid } from '../../../../base/ids.ts'

let fixture: AppFixture
afterEach(() => fixture.stop())

const read = async (token: string): Promise<number> =>
  (await fetch(`${fixture.url}/public/${token}/run`)).status

it('SHARE-2: different unknown share tokens from one address are refused after ten a minute', async () => {
  fixture = await startApp()
  const ended = newUuid()
  for (let n = 0; n < 30; n++) expect(await read(ended)).toBe(404)
  for (let n = 0; n < 9; n++) expect(await read(newUuid())).toBe(404)
  expect(await read(newUuid())).toBe(429)
  const refused = await fetch(`${fixture.url}/v2/public/${newUuid()}/run/${newUuid()}`)
  expect(refused.status).toBe(429)
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
})
