import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { newUuid } from '../../src/base/ids.ts'
import { LONG_MS } from '../support/campaign.ts'
import { eventually } from '../support/eventually.ts'
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
async function run(row: ClientRow, script: string, more: Record<string, string> = {}): Promise<unknown> {
  const file = fileURLToPath(new URL(`clients/${script}`, import.meta.url))
  const deployment = new URL(`/deployments/${DEPLOYMENT_NAME}`, weir.url).href
  const env = { PATH: process.env['PATH'] ?? '', DEPLOYMENT_URL: deployment, KEY: weir.key, ...more }
  const { stdout } = await promisify(execFile)(agentPython(row), ['-W', 'ignore', file], { env })
  return JSON.parse(stdout) as unknown
}

/** A trace whose tool call failed. */
async function sendTrace(project: string): Promise<string> {
  const id = newUuid()
  const tool = newUuid()
  const common = { trace_id: id, session_name: project, start_time: '2026-11-20T09:00:00.000Z' }
  const root = `20261120T090000000000Z${id}`
  const post = [
    { ...common, id, dotted_order: root, name: 'agent', run_type: 'chain', inputs: {}, outputs: {} },
    {
      ...common,
      id: tool,
      parent_run_id: id,
      dotted_order: `${root}.20261120T090000000001Z${tool}`,
      name: 'search',
      run_type: 'tool',
      inputs: { query: 'tea' },
      error: 'QuotaError: no more quota',
    },
  ].map((one) => ({ ...one, end_time: '2026-11-20T09:00:01.000Z' }))
  const sent = await weir.request('/runs/batch', { method: 'POST', body: JSON.stringify({ post }) })
  expect(sent.status).toBe(202)
  await eventually(async () => expect((await weir.request(`/api/v1/runs/${tool}`)).status).toBe(200))
  return id
}

const missing = withoutPython() || withoutField(...agentEnvironments())
describe.skipIf(missing !== '')(`agents in Python${missing}`, () => {
  const eras = <Said>([, , version]: ClientRow, said: (era: string) => Said): Record<string, Said> =>
    Object.fromEntries(
      (version.startsWith('1.') ? ['legacy'] : ['auto', 'legacy']).map((era) => [era, said(era)]),
    )

  it.each(rows('mcp'))('%s: %s %s of %s calls graphs (MCP-2 to MCP-9)', async (...row) => {
    const question = { question: 'go on?' }
    const called = (era: string) => ({
      version: era === 'auto' ? '2026-07-28' : '2025-11-25',
      tools: {
        sorted: true,
        objects: true,
        outputs: [],
        messages: 'string',
        description: 'Interrupts, tools, subgraphs, sends.',
        reads_only: false,
        open_world: true,
      },
      output: ['hi', 'hi'],
      rises: true,
      told: true,
      talk: [true, null, false],
      failed: [true, 'QuotaError: no more quota'],
      asked: ['go on?', 'go on?'],
      resumed: true,
      declined: true,
      unknown: -32602,
      question: [false, question, ['__interrupt__', 'run_id', 'thread_id']],
      bearer: true,
      refused: true,
    })
    expect(await run(row, 'call_tools.py')).toEqual(eras(row, called))
  })

  it.each(rows('mcp'))('%s: %s %s of %s reads a trace (MCP-9, TRC-1 to TRC-4)', async (...row) => {
    const PROJECT = `field-${newUuid()}`
    const TRACE = await sendTrace(PROJECT)
    const read = {
      names: expect.arrayContaining(['list_projects', 'fetch_runs', 'read_trace', 'read_run']),
      read_only: true,
      instructions: true,
      has_project: true,
      roots: ['agent'],
      outline: [true, true, null],
      small: true,
      lost: true,
      wrong: [true, true],
      unknown: -32602,
    }
    expect(await run(row, 'read_traces.py', { WEIR_URL: weir.url, TRACE, PROJECT })).toEqual(
      eras(row, () => ({ key: read, bearer: read, refused: true })),
    )
  })

  it.each(rows('a2a-sdk'))('%s: %s %s of %s sends messages (A2A-1 to A2A-13)', async (...row) => {
    const isOld = row[2].startsWith('0.')
    const state = (name: string): string =>
      isOld ? name : `TASK_STATE_${name.replaceAll('-', '_').toUpperCase()}`
    const fault = (code: number, name: string): number | string => (isOld ? code : name)
    const unsupported = fault(-32004, 'UnsupportedOperationError')
    const unknown = fault(-32001, 'TaskNotFoundError')
    const sent = {
      asks: [state('input-required'), ['Interrupt'], { question: 'go on?' }],
      same: true,
      ends: state('completed'),
      fails: [state('failed'), ['QuotaError: no more quota']],
      late: unsupported,
    }
    expect(await run(row, 'send_messages.py')).toEqual({
      wait: sent,
      stream: sent,
      talk: {
        skills: ['talking Capabilities'],
        streams: true,
        context: [true, true],
        answers: [['Assistant Response'], true],
        turns: [3, 6],
        file: ['What is this?', Buffer.from('pixels').toString('base64'), 'image/png', 'a.png'],
        elsewhere: unknown,
        unknown,
      },
      work: {
        begun: expect.stringMatching(new RegExp(`^(${state('submitted')}|${state('working')})$`)),
        cancelled: state('canceled'),
        twice: fault(-32002, 'TaskNotCancelableError'),
        push: fault(-32003, 'PushNotificationNotSupportedError'),
      },
      events: {
        kinds: ['task', 'artifactUpdate', 'statusUpdate'],
        grows: true,
        whole: true,
        later: ['task', state('completed')],
        over: unsupported,
      },
      lists: isOld ? null : true,
      keyless: isOld ? 'A2AClientHTTPError' : 'AgentCardResolutionError',
    })
  })
})
