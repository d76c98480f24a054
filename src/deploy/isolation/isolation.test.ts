import { describe, expect, it } from 'vitest'
import { openIsolation } from './isolation.ts'
import type { Sandbox } from './sandbox.ts'

const options = { env: { PATH: '' }, packages: '/tmp', dataDir: '/tmp' }
const none = async () => ({ reason: 'bwrap is not on the PATH.' })
const notRoot = async () => ({ reason: 'the server is not root.' })
const sandbox = {} as Sandbox
const never = () => Promise.reject(new Error('it was looked for'))

describe('P-23: the isolation of deployments', () => {
  it('auto is the best one that works, and says why there is none', async () => {
    const found = await openIsolation('auto', options, { sandbox: async () => sandbox, uid: never })
    expect(found).toMatchObject({ name: 'sandbox', sandbox })
    const second = await openIsolation('auto', options, { sandbox: none, uid: async () => sandbox })
    expect(second).toMatchObject({ name: 'uid', sandbox })
    expect(await openIsolation('auto', options, { sandbox: none, uid: notRoot })).toEqual({
      name: 'none',
      reason:
        'There is no sandbox: bwrap is not on the PATH. There is no user id for each deployment: the server is not root.',
    })
  })

  it('none looks for nothing', async () => {
    const found = await openIsolation('none', options, { sandbox: never, uid: never })
    expect(found).toEqual({ name: 'none', reason: null })
  })

  it('a named one that is missing is an error with the reason, and no other is looked for', async () => {
    await expect(openIsolation('sandbox', options, { sandbox: none, uid: never })).rejects.toMatchObject({
      code: 'isolation_unavailable',
      message: 'DEPLOY_ISOLATION is sandbox, and it does not work here: bwrap is not on the PATH.',
    })
    await expect(openIsolation('uid', options, { sandbox: never, uid: notRoot })).rejects.toMatchObject({
      message: 'DEPLOY_ISOLATION is uid, and it does not work here: the server is not root.',
    })
    await expect(openIsolation('sandbox', options)).rejects.toMatchObject({ code: 'isolation_unavailable' })
  })
})
