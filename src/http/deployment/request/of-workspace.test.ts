import { expect, it } from 'vitest'
import type { Principal } from '../../../identity/principal.ts'
import { AppError } from '../../../base/errors.ts'
import { ofWorkspace } from './of-workspace.ts'

const OWN = '6f1c39c5-6e5b-4b52-a1c5-6a5f0a1b2c3d'
const principal = (workspace_id: string): Principal => ({ workspace_id }) as Principal

/**
 * The results of the deployment's authenticator when the authenticator of all workspaces returns `answer`: first as a
 * value, then as a promise.
 */
async function answers(answer: () => Principal, workspace?: string): Promise<unknown[]> {
  const ask = async (authenticate: () => Principal | Promise<Principal>): Promise<unknown> =>
    ofWorkspace({ authenticate }, OWN).authenticate({ key: 'k', workspace })
  const settle = (asked: Promise<unknown>): Promise<unknown> => asked.catch(({ message }: Error) => message)
  return [await settle(ask(answer)), await settle(ask(async () => answer()))]
}

it('names the workspace of the deployment to the holder of a key of another one', async () => {
  const forbidden = (): never => {
    throw new AppError('forbidden')
  }
  const words = `Forbidden: this deployment belongs to the workspace ${OWN}. The key does not serve it: use one that does.`
  expect(await answers(forbidden)).toEqual([words, words])
  const named = `Forbidden: this deployment belongs to the workspace ${OWN}. X-Tenant-Id names another one: leave it out.`
  expect(await answers(() => principal('other'), 'other')).toEqual([named, named])
})

it('reveals nothing to an unknown key, and accepts a key of the workspace', async () => {
  const unknown = (): never => {
    throw new AppError('unauthorized')
  }
  expect(await answers(unknown)).toEqual(['Invalid token', 'Invalid token'])
  expect(await answers(() => principal(OWN))).toEqual([principal(OWN), principal(OWN)])
})
