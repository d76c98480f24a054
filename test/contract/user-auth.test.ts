import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createLogger } from '../../src/base/log.ts'
import { readDeploymentFile } from '../../src/graph/deployment-file.ts'
import { createUserAuth, type UserAuth } from '../../src/graph/user-auth.ts'
import { eventually } from '../support/eventually.ts'

const FILE = fileURLToPath(new URL('../fixtures/auth-graphs/langgraph.json', import.meta.url))
const ALICE: [string, string][] = [['authorization', 'Bearer user-alice']]

interface OpenAuth {
  path?: string
  timeoutMs?: number
  log?: { write(line: string): void }
}

/** The auth file of the fixtures, or another export of it. */
async function openAuth({ path, timeoutMs = 60_000, log }: OpenAuth = {}) {
  const { auth, ...file } = await readDeploymentFile(FILE, {})
  if (auth === null) throw new Error('the fixture has no auth file')
  const userAuth = createUserAuth({
    file: { ...file, auth: { ...auth, path: path ?? auth.path } },
    environment: process.env,
    logger: createLogger(log === undefined ? { level: 'silent' } : { level: 'info', destination: log }),
    record: async () => async () => undefined,
    timeoutMs,
  })
  onTestFinished(() => userAuth.stop())
  return userAuth
}

function doing(userAuth: UserAuth, what: string) {
  const headers: [string, string][] = [...ALICE, ['x-auth-do', what]]
  return userAuth.authenticate({ url: 'http://localhost/threads', method: 'GET', headers })
}

async function expectAnswers(userAuth: UserAuth): Promise<void> {
  await eventually(async () => expect((await doing(userAuth, 'nothing'))?.identity).toBe('alice'))
}

describe('the process of an auth file', () => {
  it("tells its own faults from the caller's", async () => {
    const userAuth = await openAuth()
    await expect(doing(userAuth, 'throw')).rejects.toMatchObject({ code: 'auth_failed' })
    await expect(doing(userAuth, 'nonsense')).rejects.toMatchObject({ code: 'auth_failed' })
    await expect(doing(userAuth, 'teapot')).rejects.toMatchObject({
      code: 'forbidden',
      message: 'I am a teapot',
    })
    const nobody = userAuth.authenticate({ url: 'http://localhost/', method: 'GET', headers: [] })
    await expect(nobody).rejects.toMatchObject({ code: 'unauthorized', message: 'Who are you?' })
  })

  it('is started anew when it has ended, by itself or because it was held up', async () => {
    const userAuth = await openAuth({ timeoutMs: 2_000 })
    await expectAnswers(userAuth)
    await expect(doing(userAuth, 'exit')).rejects.toMatchObject({ code: 'auth_unavailable' })
    await expectAnswers(userAuth)
    await expect(doing(userAuth, 'block')).rejects.toMatchObject({ code: 'auth_unavailable' })
    await expectAnswers(userAuth)
  })

  it('logs what its handlers log with getLogger of the SDK', async () => {
    const lines: string[] = []
    const userAuth = await openAuth({ log: { write: (line) => void lines.push(line) } })
    await doing(userAuth, 'log')
    expect(lines.map((line) => JSON.parse(line) as object)).toContainEqual(
      expect.objectContaining({
        level: 'info',
        text: 'who is it?',
        fields: { n: 1 },
        msg: 'auth file logged',
      }),
    )
  })

  it('answers what is wrong with a file that cannot be used', async () => {
    for (const path of [
      `${FILE}:auth`,
      `${FILE.replace('langgraph.json', 'auth.ts')}:missing`,
      '/nowhere/auth.ts:auth',
    ]) {
      const userAuth = await openAuth({ path })
      await expect(doing(userAuth, 'nothing')).rejects.toMatchObject({ code: 'auth_unavailable' })
    }
  })

  it('gives a filter, changes to the value, or a refusal', async () => {
    const userAuth = await openAuth()
    const user = { identity: 'alice', display_name: 'alice', is_authenticated: true, permissions: [] }
    expect(await userAuth.ask(user, 'threads:create', { metadata: { a: 1 } })).toEqual({
      filter: { owner: 'alice' },
      value: { metadata: { a: 1, owner: 'alice' } },
    })
    expect(await userAuth.ask(user, 'store:get', { namespace: ['alice'], key: 'k' })).toMatchObject({
      filter: null,
    })
    await expect(userAuth.ask(user, 'store:get', { namespace: ['bob'], key: 'k' })).rejects.toMatchObject({
      code: 'forbidden',
    })
  })
})
