import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { jsonBody } from '../../support/servers/weir-process.ts'
import { type CommandEnd, runCommand } from '../../support/run-command.ts'
import { useOwnWeir } from '../../support/servers/own-weir.ts'
import { KEY as ADMIN_KEY } from '../../support/servers/weir-process.ts'
import { newFolder } from '../../support/folder.ts'

const SERVER_SECRET = 'secret_of_the_server_1234'
const KEY = 'ci_key_0123456789'

const weir = useOwnWeir({ OF_THE_SERVER: SERVER_SECRET })

const withKey = (key: string): string => `{version: 1, service_keys: [{name: ci, role: user, key: ${key}}]}`

async function post(
  document: string,
  keys?: Record<string, string>,
): Promise<[status: number, text: string]> {
  const answer = await weir.current().fetch('/api/v1/setup', jsonBody('POST', { document, keys }))
  return [answer.status, await answer.text()]
}

async function statusWith(key: string): Promise<number> {
  return (await fetch(`${weir.current().url}/api/v1/auth/session`, { headers: { 'x-api-key': key } })).status
}

async function setup(document: string, ...flags: string[]): Promise<CommandEnd> {
  const folder = await newFolder()
  const [file, keyFile] = [join(folder, 'weir.yaml'), join(folder, 'key')]
  await writeFile(keyFile, `${KEY}\n`)
  await writeFile(file, document.replace('KEY_FILE', keyFile))
  return runCommand(['setup', 'apply', file, ...flags], {
    env: { ...process.env, WEIR_URL: weir.current().url, WEIR_API_KEY: ADMIN_KEY, CI_KEY: KEY },
  })
}

it.each(['{env: OF_THE_SERVER}', '{file: /etc/hostname}'])(
  'TEAM-12: over HTTP the server reads none of its variables and files: %s',
  async (reference) => {
    const [status, text] = await post(withKey(reference))
    expect([status, text]).toEqual([422, expect.stringContaining('\\"ci\\" is missing in keys')])
    expect(text).not.toContain(SERVER_SECRET.slice(0, 4))
    expect(await statusWith(SERVER_SECRET)).toBe(401)
  },
)

it('TEAM-12: weir setup reads the keys where it runs, from variables and files, and sends them', async () => {
  expect(await setup(withKey('{env: CI_KEY}'), '--plan')).toMatchObject({ code: 2, stderr: '' })
  expect(await setup(withKey('{env: CI_KEY}'))).toMatchObject({ code: 0, stderr: '' })
  expect(await statusWith(KEY)).toBe(200)
  expect(await setup(withKey('{file: KEY_FILE}'), '--plan')).toMatchObject({ code: 0 })
  const missing = await setup(withKey('{env: NOT_HERE}'))
  expect([missing.code, missing.stderr]).toEqual([1, expect.stringContaining('NOT_HERE has no key')])
  expect(await post(withKey('{env: CI_KEY}'), { ci: KEY })).toEqual([200, expect.stringContaining('keep')])
})

it('TEAM-12: weir setup export writes a file that applies without a change, and never over another', async () => {
  const folder = await newFolder()
  const env = { ...process.env, WEIR_URL: weir.current().url, WEIR_API_KEY: ADMIN_KEY, CI_KEY: KEY }
  expect(await setup(withKey('{env: CI_KEY}'))).toMatchObject({ code: 0 })
  const file = join(folder, 'weir.yaml')
  expect(await runCommand(['setup', 'export', file], { env })).toMatchObject({ code: 0, stderr: '' })
  expect(await runCommand(['setup', 'apply', file, '--plan'], { env })).toMatchObject({ code: 0 })
  const again = await runCommand(['setup', 'export', file], { env })
  expect([again.code, again.stderr]).toEqual([2, expect.stringContaining('exists already')])
  const printed = await runCommand(['setup', 'export'], { env })
  expect(printed.stdout).toContain('name: ci')
  expect(printed.stdout).not.toContain(KEY)
})
