import { expect, it, onTestFinished } from 'vitest'
import { runStep } from './run-step.ts'

it('P-20: a step ends with its program, also when a daemon that it has started keeps its output open', async () => {
  const lines: string[] = []
  const step = {
    name: 'build_command',
    title: 'build_command',
    command: process.execPath,
    args: [
      '-e',
      `const daemon = require('node:child_process').spawn('sleep', ['60'], { detached: true, stdio: 'inherit' })
      console.log(daemon.pid)
      daemon.unref()`,
    ],
  }
  await runStep('/', step, {
    env: { PATH: process.env['PATH'] ?? '' },
    timeout_ms: 20_000,
    log: (line) => void lines.push(line),
    signal: new AbortController().signal,
    record: async () => async () => undefined,
  })
  expect(lines[0]).toBe('build_command')
  const pid = Number(lines[1])
  onTestFinished(() => void process.kill(pid, 'SIGKILL'))
  expect(pid).toBeGreaterThan(0)
})
