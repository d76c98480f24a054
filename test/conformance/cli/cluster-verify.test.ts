import { expect, it } from 'vitest'
import { inLong } from '../../support/length.ts'
import { type CommandEnd, runCommand } from '../../support/run-command.ts'
import { useWeir } from '../../support/servers/use-weir.ts'

interface Check {
  name: string
  passed: boolean
  detail: string
}

async function verify(servers: readonly string[], key: string): Promise<CommandEnd> {
  const named = servers.flatMap((server) => ['--server', server])
  const options = ['--rate', '10', '--seconds', '1', '--json']
  return await runCommand(['cluster', 'verify', ...named, ...options], { env: { WEIR_API_KEY: key } })
}

inLong(() => {
  const weir = useWeir()

  it('two addresses of one server show, count and delete the same, and no project is left', async () => {
    const { url, key } = weir.current()
    const { code, stdout } = await verify([url, url.replace('127.0.0.1', 'localhost')], key)
    const checks = JSON.parse(stdout) as Check[]
    expect(checks.filter(({ passed }) => !passed)).toEqual([])
    expect(code).toBe(0)
    expect(checks.map(({ name }) => name)).toEqual([
      'one release',
      'shared records',
      'read elsewhere',
      'sent',
      'lists',
      'usage',
      'deleted trace',
      'deleted project',
      'usage after deletion',
    ])
    expect(checks.find(({ name }) => name === 'sent')?.detail).toMatch(/^20 traces of two runs; 0 requests/)
    const left = await weir.current().json<{ name: string }[]>('/sessions')
    expect(left.filter(({ name }) => name.startsWith('weir-cluster-verify'))).toEqual([])
  })
})

it('an address at which no server listens ends the command before anything is sent', async () => {
  const { code, stdout, stderr } = await verify(['http://127.0.0.1:1', 'http://localhost:1'], 'a key')
  expect([code, stdout]).toEqual([2, ''])
  expect(stderr).toContain('No server answers at http://127.0.0.1:1')
})
