import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { LONG_MS } from '../support/campaign.ts'
import { withoutPython } from '../support/python.ts'
import { borrowWeir, type UsedWeir } from '../support/servers/use-weir.ts'
import { DEPLOYMENT_NAME } from '../support/servers/weir-pool.ts'
import { agentEnvironments, agentPython, withoutField } from './installed.ts'
import { type ClientRow, CLIENTS } from './table.ts'

vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

let weir: UsedWeir
beforeAll(async () => {
  weir = await borrowWeir('/weir/deployment')
})
afterAll(async () => {
  expect(await weir.stop()).toBe(0)
})
const rows = (name: string): ClientRow[] => CLIENTS.filter((row) => row[1] === name)

/** The output of a script with a release of a client. */
async function run(row: ClientRow, script: string): Promise<unknown> {
  const file = fileURLToPath(new URL(`clients/${script}`, import.meta.url))
  const deployment = new URL(`/deployments/${DEPLOYMENT_NAME}`, weir.url).href
  const env = { PATH: process.env['PATH'] ?? '', DEPLOYMENT_URL: deployment, KEY: weir.key }
  const { stdout } = await promisify(execFile)(agentPython(row), ['-W', 'ignore', file], { env })
  return JSON.parse(stdout) as unknown
}

const missing = withoutPython() || withoutField(...agentEnvironments())
describe.skipIf(missing !== '')(`agents in Python${missing}`, () => {
  it.each(rows('mcp'))('%s: %s %s of %s calls graphs, and answers what they ask', async (...row) => {
    const called = {
      lists: true,
      text: 'hi',
      told: true,
      failed: [true, 'QuotaError: no more quota'],
      asked: ['go on?'],
      resumed: true,
    }
    const isOld = row[2].startsWith('1.')
    expect(await run(row, 'call_tools.py')).toEqual({ ...(!isOld && { auto: called }), legacy: called })
  })

  it.each(rows('a2a-sdk'))('%s: %s %s of %s sends messages, and answers what agents ask', async (...row) => {
    const isOld = row[2].startsWith('0.')
    const state = (name: string): string =>
      isOld ? name : `TASK_STATE_${name.replaceAll('-', '_').toUpperCase()}`
    const sent = {
      asks: state('input-required'),
      question: { question: 'go on?' },
      same: true,
      ends: state('completed'),
      fails: state('failed'),
    }
    expect(await run(row, 'send_messages.py')).toEqual({ wait: sent, stream: sent })
  })
})
