import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import type { SchemaTypes } from '../../../src/schema/types.gen.ts'
import { type CommandEnd, runCommand } from '../../support/run-command.ts'
import { KEY, startWeir, type WeirProcess } from '../../support/servers/weir-process.ts'
import { inLong } from '../../support/length.ts'
import { useFolder } from '../../support/folder.ts'

let dir: string
let weir: WeirProcess
useFolder(async (made) => {
  dir = made
  await mkdir(join(dir, 'data'))
  weir = await startWeir(join(dir, 'data'))
})
afterAll(async () => {
  await weir.stop()
})

/** Runs `weir` against the server, with the admin key unless `env` sets another. */
function run(args: string[], env: Record<string, string> = {}): Promise<CommandEnd> {
  const { PATH } = process.env
  return runCommand(args, { cwd: dir, env: { PATH, WEIR_URL: weir.url, WEIR_API_KEY: KEY, ...env } })
}

async function lines(...args: string[]): Promise<string[]> {
  const { code, stdout, stderr } = await run(args)
  expect([code, stderr]).toEqual([0, ''])
  return stdout.trimEnd().split('\n')
}

async function json<T>(...args: string[]): Promise<T> {
  return JSON.parse((await lines(...args, '--json')).join('\n')) as T
}

type NewKey = SchemaTypes['api-key-created']
const settings = (key: string, headers = {}): Promise<Response> =>
  fetch(`${weir.url}/settings`, { headers: { 'x-api-key': key, ...headers } })

describe('weir workspaces, members and keys', () => {
  it('create a workspace, a member and a token of the member', async () => {
    const team = await json<SchemaTypes['workspace']>('workspaces', 'create', 'Team One')
    const [titles, home, listed] = await lines('workspaces', 'list')
    expect(titles).toMatch(/^ID +NAME +MADE$/)
    expect(home).toMatch(/ Default +\d{4}-\d\d-\d\d$/)
    expect(listed).toContain(`${team.id}  Team One`)

    const add = ['members', 'add', 'Ada@example.com', '--role', 'user', '--name', 'Ada']
    expect((await lines(...add, '--workspace', 'Team One'))[1]).toMatch(
      /^[0-9a-f-]{36} +ada@example\.com +Ada +user +Team One$/,
    )
    expect((await lines('members', 'list')).join('\n')).toMatch(/admin@localhost +Admin +admin +all/)

    const mails = async (...flags: string[]) =>
      (await json<SchemaTypes['member'][]>('members', 'list', ...flags)).map(({ email }) => email)
    expect(await mails('--role', 'user')).toEqual(['ada@example.com'])
    expect(await mails('--role', 'viewer')).toEqual([])
    expect(await mails('--workspace', 'Team One')).toEqual(['admin@localhost', 'ada@example.com'])
    expect(await mails('--workspace', 'Default')).toEqual(['admin@localhost'])

    const made = await lines('keys', 'create', 'laptop', '--user', 'ada@example.com', '--expires', '30d')
    const token = made[0] ?? ''
    expect(token).toMatch(/^lsv2_pt_[0-9a-f]{32}_[0-9a-f]{10}$/)
    expect(made.join('\n')).toContain('only time')
    expect(await (await settings(token)).json()).toMatchObject({ id: team.id })

    const row = (await lines('keys', 'list', '--user', 'ADA@example.com'))[1] ?? ''
    expect(row).toMatch(
      /lsv2\.\.\.[0-9a-f]{4} +laptop +user +all +\d{4}-\d\d-\d\d +\d{4}-\d\d-\d\d +\d{4}-\d\d-\d\d$/,
    )
    expect(row).not.toContain(token)
    const revoked = await lines('keys', 'revoke', row.slice(0, 36), '--user', 'ada@example.com')
    expect(revoked[0]).toContain('Revoked')
    expect((await settings(token)).status).toBe(401)
  })

  inLong(() => {
    it('projects show how long they keep runs, and are deleted only with --yes', async () => {
      await weir.fetch('/api/v1/sessions', {
        method: 'POST',
        body: '{"name":"short lived"}',
        headers: { 'content-type': 'application/json' },
      })
      expect(await lines('projects', 'retention', 'short lived', '30')).toEqual([
        'Runs of project "short lived" are kept for 30 days after receipt.',
      ])
      const listed = await lines('projects', 'list')
      expect(listed[0]).toMatch(/^ID +NAME +RUNS +KEPT$/)
      expect(listed.join('\n')).toMatch(/ short lived +0 +30 days/)
      expect(await run(['projects', 'delete', 'short lived'])).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('--yes'),
      })
      expect((await lines('projects', 'delete', 'short lived', '--yes'))[0]).toContain('Deleted project')
      expect((await run(['projects', 'retention', 'short lived', '1'])).stderr).toContain('no project')
    })

    it('create service keys for some workspaces, revoked by their short key', async () => {
      const other = await json<SchemaTypes['workspace']>(
        'workspaces',
        'create',
        'Other',
        '--id',
        crypto.randomUUID(),
      )
      const args = ['keys', 'create', 'ci', '--read-only', '--role', 'viewer', '--workspace', 'Default']
      const made = await json<NewKey>(...args, '--workspace', other.id, '--default-workspace', 'Other')
      expect(made).toMatchObject({
        role: 'viewer',
        read_only: true,
        default_workspace_id: other.id,
        expires_at: null,
      })
      expect(made.workspaces).toContain(other.id)
      expect((await lines('keys', 'list')).join('\n')).toMatch(/ci +viewer, read only +Default, Other/)
      const own = await run(['workspaces', 'list'], { WEIR_API_KEY: made.key })
      expect(own.stdout.trimEnd().split('\n')).toHaveLength(3)
      await lines('keys', 'revoke', made.short_key)
      expect((await settings(made.key)).status).toBe(401)
    })

    it('act in the workspace of --tenant', async () => {
      await json('workspaces', 'create', 'Third')
      const make = ['keys', 'create', 'everywhere', '--role', 'admin']
      expect(await run(make)).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('Add --workspace NAME for a key of one workspace'),
      })
      const { key } = await json<NewKey>(...make, '--default-workspace', 'Third')
      const [home] = await json<SchemaTypes['workspace'][]>('workspaces', 'list')
      const list = (...flags: string[]) => run(['keys', 'list', '--key', key, ...flags])
      const foreign = await list('--tenant', '99999999-9999-4999-8999-999999999999')
      expect([foreign.code, foreign.stderr]).toEqual([2, expect.stringContaining('Forbidden')])
      expect((await list('--tenant', home?.id ?? '')).code).toBe(0)
      expect((await list()).code).toBe(0)
    })

    it('list and revoke service keys and the tokens of the caller', async () => {
      await lines('keys', 'create', 'both kinds', '--workspace', 'Default')
      const listed = await lines('keys', 'list')
      expect(listed[0]).toMatch(/^ID +TYPE +KEY +DESCRIPTION +ROLE +WORKSPACES +MADE +LAST USED +EXPIRES$/)
      expect(listed.join('\n')).toMatch(/ service +\S+ +both kinds /)
      expect(listed.join('\n')).toMatch(/ personal +\S+ +First admin key +admin /)
      const token = await json<NewKey>('keys', 'create', 'spare', '--personal', '--workspace', 'Default')
      const revoked = await json<SchemaTypes['api-key']>('keys', 'revoke', token.short_key)
      expect(revoked).toMatchObject({ id: token.id, description: 'spare' })
      expect((await settings(token.key)).status).toBe(401)
    })

    it('list only the tokens of a caller that may not read service keys', async () => {
      await lines('members', 'add', 'carl@example.com', '--workspace', 'Default')
      const { key } = await json<NewKey>('keys', 'create', 'own', '--user', 'carl@example.com')
      const { code, stdout, stderr } = await run(['keys', 'list'], { WEIR_API_KEY: key })
      expect([code, stderr]).toEqual([0, 'Service keys are left out: this key may not see them.\n'])
      expect(stdout).toMatch(/ personal +\S+ +own /)
    })

    it('refuse a second workspace of the same name', async () => {
      const { id } = await json<SchemaTypes['workspace']>('workspaces', 'create', 'Twice')
      expect(await run(['workspaces', 'create', ' Twice'])).toEqual({
        code: 2,
        stdout: '',
        stderr: `weir workspaces: There is a workspace "Twice" already, with id ${id}. Use that one, or choose another name.\n`,
      })
    })

    it('print JSON for --format json as for --json', async () => {
      const list = (await lines('workspaces', 'list', '--format', 'json')).join('\n')
      expect(JSON.parse(list)).toEqual(await json('workspaces', 'list'))
    })

    it('list only the tokens of the caller with --personal', async () => {
      const personal = await json<SchemaTypes['api-key'][]>('keys', 'list', '--personal')
      expect(personal.map(({ description, role }) => [description, role])).toEqual([
        ['First admin key', 'admin'],
      ])
    })
  })

  it.each([
    [['keys'], 'Name one of list, create, revoke.'],
    [['keys', 'list', 'x'], 'list takes options only, not "x".'],
    [['keys', 'create'], 'create takes one description'],
    [['keys', 'create', 'a', 'b'], 'create takes one description'],
    [['keys', 'create', 'a', '--wrong'], '--wrong'],
    [['keys', 'create', 'a', '--role', 'root'], '--role must be one of'],
    [['keys', 'create', 'a', '--workspace', 'Nowhere'], 'no workspace "Nowhere"'],
    [['keys', 'create', 'a', '--expires', 'soon'], '--expires must be a time such as'],
    [['keys', 'create', 'a', '--user', 'no@one'], 'no member no@one'],
    [['keys', 'revoke', 'lsv2...none'], 'no key lsv2...none'],
    [['keys', 'revoke', crypto.randomUUID()], '404'],
    [['members', 'add'], 'add takes one email address.'],
    [['members', 'add', 'no-address'], '"no-address" is not an email address'],
    [['members', 'remove', 'x'], '"remove" is not one of list, add.'],
    [['workspaces', 'create'], 'create takes one name'],
    [['workspaces', 'list', '--url', 'http://127.0.0.1:1'], 'No server answers'],
    [['workspaces', 'list', '--key', 'unknown_key_0123456789'], 'refused the key of --key (401)'],
  ])('exit with 2 and a reason: %j', async (args, why) => {
    const { code, stdout, stderr } = await run(args)
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toContain(why)
  })

  it.each(['keys', 'workspaces', 'members'])('weir %s --help prints its usage', async (command) => {
    const { code, stdout } = await run([command, '--help'])
    expect([code, stdout]).toEqual([0, expect.stringContaining(`Usage: weir ${command} list`)])
  })

  it('use the key of DATA_DIR for a server on this machine, and send it to no other', async () => {
    const other = join(dir, 'kept')
    await mkdir(other)
    await writeFile(join(other, 'api-key'), `${KEY}\n`)
    const env = { WEIR_API_KEY: '', DATA_DIR: other }
    expect((await run(['workspaces', 'list'], env)).code).toBe(0)
    const elsewhere = await run(['workspaces', 'list'], {
      ...env,
      WEIR_URL: weir.url.replace('127.0.0.1', '0.0.0.0'),
    })
    expect([elsewhere.code, elsewhere.stderr]).toEqual([2, expect.stringContaining('401')])
  })
})

describe('IDENTITY-16: weir open', () => {
  it('prints a link that signs a browser in once', async () => {
    const [link = ''] = await lines('open')
    const [page, ticket] = link.split('#ticket=')
    expect(page).toBe(`${weir.url}/app/`)
    const signIn = async (): Promise<number> => {
      const headers = { 'content-type': 'application/json', origin: weir.url }
      const init = { method: 'POST', headers, body: JSON.stringify({ ticket }) }
      const answer = await fetch(`${weir.url}/auth/session`, init)
      await answer.body?.cancel()
      return answer.status
    }
    expect([await signIn(), await signIn()]).toEqual([200, 401])
    expect(await run(['open', 'now'])).toMatchObject({ code: 2 })
  })
})
