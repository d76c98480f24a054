import { describe, expect, it } from 'vitest'
import { openIsolation } from './isolation.ts'
import type { Sandbox } from './sandbox.ts'

const options = { env: { PATH: '' }, packages: '/tmp', dataDir: '/tmp' }
const none = async () => ({ reason: 'bwrap is not on the PATH.' })
const sandbox = {} as Sandbox

describe('P-23: the isolation of deployments', () => {
  it('auto is the best one that works, and says why there is none', async () => {
    expect(await openIsolation('auto', options, async () => sandbox)).toMatchObject({
      name: 'sandbox',
      sandbox,
    })
    const reason = 'There is no sandbox: bwrap is not on the PATH.'
    expect(await openIsolation('auto', options, none)).toEqual({ name: 'none', reason })
  })

  it('none looks for nothing', async () => {
    const never = () => Promise.reject(new Error('it was looked for'))
    expect(await openIsolation('none', options, never)).toEqual({ name: 'none', reason: null })
  })

  it('a named one that is missing is an error with the reason', async () => {
    await expect(openIsolation('sandbox', options, none)).rejects.toMatchObject({
      code: 'isolation_unavailable',
      message: 'DEPLOY_ISOLATION is sandbox, and there is none: bwrap is not on the PATH.',
    })
    await expect(openIsolation('sandbox', options)).rejects.toMatchObject({ code: 'isolation_unavailable' })
  })
})
