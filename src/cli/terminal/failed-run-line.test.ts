import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createTerminalLog } from './terminal-log.ts'

it('shows a failed run in one line, with graph, node, run, error and place', () => {
  const lines: string[] = []
  const log = createTerminalLog((text) => void lines.push(text), { colors: false, all: false })
  log.open()
  const record = { level: 'warn', time: '2026-11-22T09:00:00.000Z', msg: 'a run failed' }
  const failure = { graph: 'agent', run_id: 'r1', error: 'TypeError', reason: 'x is not a function' }
  const place = `${join(process.cwd(), 'src/agent.ts')}:12`
  log.write(JSON.stringify({ ...record, ...failure, node: 'think', place }))
  log.write(JSON.stringify({ ...record, ...failure }))
  expect(lines.map((line) => line.slice(10))).toEqual([
    'Run r1 of graph "agent" failed in node "think": TypeError: x is not a function (src/agent.ts:12)\n',
    'Run r1 of graph "agent" failed: TypeError: x is not a function\n',
  ])
})
