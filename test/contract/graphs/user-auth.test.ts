import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { createLogger } from '../../../src/base/log.ts'
import { readDeploymentFile } from '../../../src/graph/project/deployment-file.ts'
import { readGraphSpec } from '../../../src/graph/project/graph-spec.ts'
import { parseExact } from '../../../src/schema/exact-json.ts'
import type { JsonValue } from '../../../src/schema/json.ts'
import { parsedJson, rawJson, rawLength } from '../../../src/schema/raw-json.ts'
import {
  createUserAuth,
  type UserAuth,
  type UserAuthOptions,
} from '../../../src/graph/user-auth/user-auth.ts'
import { eventually } from '../../support/eventually.ts'
import { firstInShort, inLong } from '../../support/length.ts'
import { withoutPython } from '../../support/python.ts'

const FILE = fileURLToPath(new URL('../../fixtures/auth-graphs/langgraph.json', import.meta.url))
const ALICE: [string, string][] = [['authorization', 'Bearer user-alice']]

interface OpenAuth extends Pick<UserAuthOptions, 'mask' | 'printed'> {
  path?: string
  timeoutMs?: number
  log?: { write(line: string): void }
  startMs?: number
  env?: Record<string, string>
  /** Called when a process has started. */
  started?: () => void
}

/** Loads the auth file of the fixtures, or another export of it. */
async function makeAuth(options: OpenAuth = {}) {
  const { path, timeoutMs = 60_000, startMs = 60_000, log, env = {}, mask, printed, started } = options
  const { auth, ...file } = await readDeploymentFile(FILE, {})
  if (auth === null) throw new Error('the fixture has no auth file')
  return createUserAuth({
    file: {
      ...file,
      env: { ...file.env, ...env },
      auth: { ...auth, ...(path !== undefined && readGraphSpec(path, '/')) },
    },
    environment: process.env,
    logger: createLogger(log === undefined ? { level: 'silent' } : { level: 'info', destination: log }),
    async record() {
      started?.()
      return async () => undefined
    },
    mask,
    printed,
    timeoutMs,
    startMs,
  })
}

/** Loads a file for one test. */
async function openAuth(options: OpenAuth): Promise<UserAuth> {
  const userAuth = await makeAuth(options)
  onTestFinished(() => userAuth.stop())
  return userAuth
}

function containing(text: string): string {
  return expect.stringContaining(text) as string
}

function doing(userAuth: UserAuth, what: string) {
  const headers: [string, string][] = [...ALICE, ['x-auth-do', what]]
  return userAuth.authenticate({ url: 'http://localhost/threads', method: 'GET', headers })
}

async function expectAnswers(userAuth: UserAuth): Promise<void> {
  await eventually(async () => expect((await doing(userAuth, 'nothing'))?.identity).toBe('alice'))
}

describe('the process of an auth file', () => {
  /** The file of the fixtures, for tests after which its process still runs; and what it has logged. */
  let userAuth: UserAuth
  const lines: string[] = []
  beforeAll(async () => {
    userAuth = await makeAuth({ log: { write: (line) => void lines.push(line) } })
  })
  afterAll(() => userAuth.stop())

  it("AUTH-12: distinguishes its own errors from the caller's", async () => {
    await expect(doing(userAuth, 'throw')).rejects.toMatchObject({ code: 'auth_failed' })
    for (const garbage of ['nonsense', 'circular', 'bigint', 'getter', 'huge'])
      await expect(doing(userAuth, garbage), garbage).rejects.toMatchObject({ code: 'auth_failed' })
    await expect(doing(userAuth, 'teapot')).rejects.toMatchObject({
      code: 'forbidden',
      message: 'I am a teapot',
    })
    const nobody = userAuth.authenticate({ url: 'http://localhost/', method: 'GET', headers: [] })
    await expect(nobody).rejects.toMatchObject({ code: 'unauthorized', message: 'Who are you?' })
  })

  it('AUTH-11: is restarted when it has ended, by itself or because it was blocked', async () => {
    const userAuth = await openAuth({ timeoutMs: 2_000 })
    await expectAnswers(userAuth)
    await expect(doing(userAuth, 'exit')).rejects.toMatchObject({ code: 'auth_unavailable' })
    await expectAnswers(userAuth)
    await expect(doing(userAuth, 'block')).rejects.toMatchObject({ code: 'auth_unavailable' })
    await expectAnswers(userAuth)
  })

  inLong(() => {
    it('handles other requests while one waits for ever, and ends that one', async () => {
      const userAuth = await openAuth({ timeoutMs: 2_000 })
      await expectAnswers(userAuth)
      const hanging = expect(doing(userAuth, 'hang')).rejects.toMatchObject({
        code: 'auth_unavailable',
        message: 'The auth handler took longer than 2 s.',
      })
      expect((await doing(userAuth, 'nothing'))?.identity).toBe('alice')
      await hanging
    })

    it('is restarted when its heap is full, and after an uncaught exception', async () => {
      const userAuth = await openAuth({ env: { NODE_OPTIONS: '--max-old-space-size=48' } })
      await expect(doing(userAuth, 'leak')).rejects.toMatchObject({ code: 'auth_unavailable' })
      await expectAnswers(userAuth)
      expect((await doing(userAuth, 'later'))?.identity).toBe('alice')
      await expect(doing(userAuth, 'hang')).rejects.toMatchObject({ code: 'auth_unavailable' })
      await expectAnswers(userAuth)
    })
  })

  const badFiles: [how: string, message: string][] = [
    ['hangs', 'The auth file took longer than 1 s to load.'],
    ['throws', 'no database'],
    ['exits', 'The process of the auth file has ended.'],
    ['blocks', 'The auth file took longer than 1 s to load.'],
    ['garbage', 'is no Auth of'],
  ]

  inLong(() => {
    it.each(firstInShort(badFiles))(
      'reports in time the error of a file that %s while it is loaded',
      async (how, message) => {
        const path = `${FILE.replace('langgraph.json', 'bad-auth.mjs')}:auth`
        const startMs = how === 'hangs' || how === 'blocks' ? 1_000 : 60_000
        const userAuth = await openAuth({ path, startMs, env: { BAD_AUTH: how } })
        const code = 'auth_unavailable'
        await expect(doing(userAuth, 'nothing')).rejects.toMatchObject({ code, message: containing(message) })
      },
    )
  })

  it('AUTH-11: that cannot be loaded is tried again with each request, and told once', async () => {
    const lines: { level: string; msg: string }[] = []
    const log = { write: (line: string) => void lines.push(JSON.parse(line) as (typeof lines)[number]) }
    let starts = 0
    const path = `${FILE.replace('langgraph.json', 'bad-auth.mjs')}:auth`
    const broken = await openAuth({ path, env: { BAD_AUTH: 'throws' }, log, started: () => void starts++ })
    await eventually(async () => {
      await expect(broken.ready()).rejects.toMatchObject({ code: 'auth_unavailable' })
      expect(starts).toBeGreaterThan(1)
    })
    const errors = lines.filter(({ level }) => level === 'error')
    expect(errors.map(({ msg }) => msg)).toEqual(['the auth file of the deployment cannot be loaded'])
  })

  it('P-16: of a deployment, its messages are masked, and its log lines go to the log of the deployment', async () => {
    const logged: string[] = []
    const printed: string[] = []
    const options: OpenAuth = {
      mask: (text) => text.replaceAll('database', '***'),
      printed: (from, line) => void printed.push(`${from} ${line}`),
      log: { write: (line) => void logged.push(line) },
    }
    const path = `${FILE.replace('langgraph.json', 'bad-auth.mjs')}:auth`
    const broken = await openAuth({ ...options, path, env: { BAD_AUTH: 'throws' } })
    await expect(broken.ready()).rejects.toMatchObject({ message: containing('no ***') })
    await doing(await openAuth(options), 'log')
    expect(printed).toContain('stdout who is it?')
    expect(logged.join()).not.toMatch(/no database|who is it/)
  })

  it('logs what its handlers log with getLogger of the SDK', async () => {
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

  inLong(() => {
    it.each(
      firstInShort([
        `${FILE.replace('langgraph.json', 'auth.ts')}:missing`,
        `${FILE}:auth`,
        '/nowhere/auth.ts:auth',
      ]),
    )('reports the error of a file that cannot be used: %s', async (path) => {
      const unusable = await openAuth({ path })
      await expect(doing(unusable, 'nothing')).rejects.toMatchObject({ code: 'auth_unavailable' })
    })

    it('is not called for events without a handler, and returns large values as text', async () => {
      const userAuth = await openAuth({ path: `${FILE.replace('langgraph.json', 'auth.ts')}:few` })
      const user = { identity: 'alice', display_name: 'alice', is_authenticated: true, permissions: [] }
      const bigint = { metadata: { a: 1n } } as never
      expect(await userAuth.ask(user, 'threads:create', bigint)).toEqual({ filter: null, value: {} })
      const { value } = await userAuth.ask(user, 'store:put', { namespace: ['a'], key: 'k', value: { n: 1 } })
      expect(Object.keys(value)).toEqual(['value'])
      expect(rawLength(value['value'] ?? null)).toBeGreaterThan(1 << 20)
      expect(parsedJson(value['value'] ?? null)).toMatchObject({ n: 1 })
    })
  })

  for (const [language, file, missing] of [
    ['TypeScript', '../../fixtures/auth-graphs/auth.ts', ''],
    ['Python', '../../fixtures/python-auth/auth.py', withoutPython()],
  ] as const)
    it.skipIf(missing !== '')(
      `a request that is nested too deeply for a file in ${language} is refused, and no other one fails${missing}`,
      async () => {
        const userAuth = await openAuth({ path: `${fileURLToPath(new URL(file, import.meta.url))}:auth` })
        const user = { identity: 'alice', display_name: 'alice', is_authenticated: true, permissions: [] }
        const deep = JSON.parse(`${'['.repeat(1500)}"\\ud83d"${']'.repeat(1500)}`) as JsonValue
        const other = doing(userAuth, 'nothing')
        const asked = userAuth.ask(user, 'threads:create', { metadata: { deep } })
        const refused = { code: 'invalid_request', message: containing('too deeply') }
        await expect(asked).rejects.toMatchObject(refused)
        for (const one of [other, doing(userAuth, 'nothing')])
          expect(await one).toMatchObject({ identity: 'alice' })
      },
    )

  it('RUN-38: returns a filter, changes to the value, in which other fields stay as they were sent, or a refusal', async () => {
    const user = { identity: 'alice', display_name: 'alice', is_authenticated: true, permissions: [] }
    expect(await userAuth.ask(user, 'threads:create', { metadata: { a: 1 } })).toEqual({
      filter: { owner: 'alice' },
      value: { metadata: { a: 1, owner: 'alice' } },
    })
    expect(await userAuth.ask(user, 'store:get', { namespace: ['alice'], key: 'k' })).toMatchObject({
      filter: null,
    })
    const guild = { guild: parseExact('12345678901234567890') }
    const { value } = await userAuth.ask(user, 'threads:create', { metadata: guild })
    expect(JSON.stringify(value)).toBe('{"metadata":{"guild":12345678901234567890,"owner":"alice"}}')
    const kwargs = { input: rawJson(JSON.stringify('x'.repeat(2 << 20))) }
    const asked = { assistant_id: 'a', metadata: { a: 1 }, kwargs }
    expect(await userAuth.ask(user, 'threads:create_run', asked)).toEqual({
      filter: { owner: 'alice' },
      value: { metadata: { a: 1, owner: 'alice' } },
    })
    const item = { namespace: ['alice'], key: 'k', value: { text: 'x' } }
    expect(await userAuth.ask(user, 'store:put', item)).toMatchObject({ value: {} })
    await expect(userAuth.ask(user, 'store:get', { namespace: ['bob'], key: 'k' })).rejects.toMatchObject({
      code: 'forbidden',
    })
  })
})
