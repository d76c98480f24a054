import { expect, it } from 'vitest'
import { runCommand } from '../../support/run-command.ts'
import { useWeir } from '../../support/servers/use-weir.ts'

const weir = useWeir()

interface Check {
  name: string
  passed: boolean
  detail: string
}

async function verify(...more: string[]): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const { url, key } = weir.current()
  const servers = [url, url.replace('127.0.0.1', 'localhost')].flatMap((server) => ['--server', server])
  return await runCommand(['cluster', 'verify', ...servers, '--rate', '10', '--seconds', '1', ...more], {
    env: { WEIR_API_KEY: key },
  })
}

it('two addresses of one server show, count and delete the same, and no project is left', async () => {
  const { code, stdout } = await verify('--json')
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

it('an address at which no server listens ends the command before anything is sent', async () => {
  const { code, stderr } = await verify('--server', 'http://127.0.0.1:1')
  expect(code).toBe(2)
  expect(stderr).toContain('No server answers at http://127.0.0.1:1')
})
