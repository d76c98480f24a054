import { describe, expect, it } from 'vitest'
import { type Config, readConfig } from '../../config.ts'
import { settingDifferences, settingPrints } from './shared-settings.ts'
import { inLong } from '../../../test/support/length.ts'

const of = (env: Record<string, string>): Config => readConfig({ ...env, GRAPHS: '' })
const SECRETS = {
  SECRETS_KEY: 'a'.repeat(64),
  WEBHOOK_SECRET: `whsec_${Buffer.alloc(32).toString('base64')}`,
}
const ALL = { ...SECRETS, REDIS_URL: 'redis://redis:6379' }

async function differences(own: Record<string, string>, other: Record<string, string>): Promise<unknown[]> {
  const [mine, theirs] = [await settingPrints(of(own), 'i'), await settingPrints(of(other), 'i')]
  return settingDifferences(mine, theirs).map(({ name, isFatal }) => [name, isFatal])
}

describe('settings that must be the same', () => {
  it('are, also with another user and another form of the address of Redis', async () => {
    expect(await differences(ALL, ALL)).toEqual([])
    expect(await differences(ALL, { ...ALL, REDIS_URL: 'redis://u:p@redis/0' })).toEqual([])
    expect(await differences(SECRETS, SECRETS)).toEqual([])
  })

  inLong(() => {
    it('are, also with the Sentinels of Redis in another order', async () => {
      const print = async (hosts: string) => {
        const { REDIS_URL } = await settingPrints(of({ REDIS_URL: `redis+sentinel://${hosts}/main` }), 'i')
        return REDIS_URL
      }
      const first = await print('a,b:26379')
      expect([await print('u:p@b,a'), (await print('a,c')) === first]).toEqual([first, false])
    })
  })

  it('are named when they differ, and when each server makes its own', async () => {
    const other = {
      SECRETS_KEY: 'b'.repeat(64),
      WEBHOOK_SECRET: `whsec_${Buffer.alloc(32, 1).toString('base64')}`,
    }
    expect(await differences(ALL, { ...other, REDIS_URL: 'redis://other:6379' })).toEqual([
      ['REDIS_URL', false],
      ['SECRETS_KEY', true],
      ['WEBHOOK_SECRET', false],
    ])
    expect(await differences({}, {})).toEqual([
      ['SECRETS_KEY', false],
      ['WEBHOOK_SECRET', false],
    ])
    expect(await differences(ALL, SECRETS)).toEqual([['REDIS_URL', false]])
  })

  inLong(() => {
    it('may be two keys of secrets while they are rotated, if each server has both', async () => {
      const [old, next] = ['a'.repeat(64), 'b'.repeat(64)]
      const before = { SECRETS_KEY: old, SECRETS_KEY_PREVIOUS: next }
      const after = { SECRETS_KEY: next, SECRETS_KEY_PREVIOUS: old }
      const keyOf = async (one: Record<string, string>, two: Record<string, string>) =>
        (await differences(one, two)).find((found) => Array.isArray(found) && found[0] === 'SECRETS_KEY')
      expect(await keyOf(before, after)).toEqual(['SECRETS_KEY', false])
      expect(await keyOf({ SECRETS_KEY: old }, after)).toEqual(['SECRETS_KEY', true])
      expect(await keyOf({ SECRETS_KEY: old }, before)).toBeUndefined()
    })

    it('are stored as hashes that differ between installations, and are not compared with an older release', async () => {
      const one = await settingPrints(of(ALL), 'one')
      expect(JSON.stringify(one)).not.toContain(SECRETS.SECRETS_KEY)
      expect((await settingPrints(of(ALL), 'two')).SECRETS_KEY).not.toBe(one.SECRETS_KEY)
      expect(settingDifferences(one, {})).toEqual([])
    })
  })
})
