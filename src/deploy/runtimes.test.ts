import { describe, expect, it } from 'vitest'
import { assertPlan } from './plan.ts'
import { createRuntimes, type IsolationInUse } from './runtimes.ts'

const none = async () => ({ ok: false, reason: 'docker is not installed' }) as const

const NO_UV = async (): Promise<string> => 'no uv'

const plain: IsolationInUse = { name: 'none', look: async () => ({ name: 'none', reason: null }) }
const without: IsolationInUse = {
  name: 'container',
  look: async () => ({ name: 'container', reason: 'docker is not installed' }),
}

describe('what a deployment needs', () => {
  it('P-13: the runtime container needs one that answers, process none', async () => {
    await expect(createRuntimes('container', without, none, NO_UV).assertUsable()).rejects.toMatchObject({
      code: 'container_runtime_unavailable',
      message: 'docker is not installed',
    })
    await createRuntimes('process', plain, none, NO_UV).assertUsable()
    expect(await createRuntimes('process', plain, none, NO_UV).report()).toEqual([
      { runtime: 'process', in_use: true, usable: true, isolation: 'none', reason: null, uv_fault: 'no uv' },
      {
        runtime: 'container',
        in_use: false,
        usable: false,
        isolation: null,
        reason: 'docker is not installed',
        uv_fault: 'no uv',
      },
      expect.objectContaining({ runtime: 'kubernetes', usable: false }),
    ])
  })

  it('P-12: a plan of Plus or above', () => {
    for (const plan of ['plus', 'startup', 'enterprise'] as const) assertPlan(plan)
    const refused = expect.objectContaining({
      code: 'plan_required',
      message: 'Deployments need the Plus plan or above; this organization has Developer.',
    })
    expect(() => assertPlan('developer')).toThrow(refused)
  })
})
