import { expect, it } from 'vitest'
import { newUuid } from '../../../src/base/ids.ts'
import type { UsageLimit } from '../../../src/schema/types.gen.ts'
import { type CommandEnd, runCommand } from '../../support/run-command.ts'
import { useWeir } from '../../support/servers/use-weir.ts'

const weir = useWeir()

function limits(...args: string[]): Promise<CommandEnd> {
  const { url, key } = weir.current()
  return runCommand(['usage', 'limits', ...args], {
    env: { ...process.env, WEIR_URL: url, WEIR_API_KEY: key },
  })
}

async function sendTrace(): Promise<number> {
  const start_time = new Date().toISOString()
  const run = { id: newUuid(), name: 'x', run_type: 'chain', start_time, inputs: {} }
  const headers = { 'content-type': 'application/json' }
  const body = JSON.stringify({ post: [run], patch: [] })
  return (await weir.current().request('/api/v1/runs/batch', { method: 'POST', headers, body })).status
}

it('USAGE-15: weir usage limits shows, sets and removes the limits that the server applies', async () => {
  expect(await limits()).toMatchObject({ code: 0, stdout: 'There are no limits.\n' })
  const [workspace] = await weir.current().json<{ id: string; display_name: string }[]>('/api/v1/workspaces')
  const set = await limits('set', '1', '--workspace', workspace!.display_name)
  expect(set.stdout).toMatch(/^ID .* OF .* TRACES A MONTH {2}MODE\n/)
  expect(set.stdout).toContain(workspace!.display_name)
  expect([await sendTrace(), await sendTrace()]).toEqual([202, 429])

  await limits('set', '1', '--soft')
  const [limit, ...others] = JSON.parse((await limits('list', '--json')).stdout) as UsageLimit[]
  expect([limit, others]).toMatchObject([{ limit_value: 1, mode: 'soft', workspace_id: workspace!.id }, []])
  expect(await sendTrace()).toBe(202)

  expect((await limits('remove', limit!.id)).stdout).toBe('There are no limits.\n')
  expect(await limits('remove', limit!.id)).toMatchObject({ code: 2 })
})

it.each([
  [['set', 'many'], '"many" is not a number of traces.'],
  [['set', '1', '--workspace', 'a', '--api-key', 'b'], 'not both'],
  [['remove', 'x'], '"x" is not the id of a limit'],
  [['add'], '"add" is not one of list, set, remove'],
])('refuses %j', async (args, words) => {
  const { code, stderr } = await limits(...args)
  expect([code, stderr]).toEqual([2, expect.stringContaining(words)])
})
