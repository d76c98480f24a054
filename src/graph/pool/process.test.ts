import { describe, expect, it, onTestFinished } from 'vitest'
import { createLogger } from '../../base/log.ts'
import { describeExit, hostEnvironment, isFromOutside, startHostProcess } from './process.ts'

describe('hostEnvironment', () => {
  it("RUN-16: has langgraph.json's env, and only those variables of the server that every process needs (D-42)", () => {
    const server = {
      PATH: '/bin',
      HOME: '/root',
      NODE_COMPILE_CACHE: '/tmp/compiled',
      DATABASE_URL: 'postgres://secret',
      BOOTSTRAP_API_KEY: 'k',
      TZ: undefined,
    }
    const env = hostEnvironment(server, { MODEL: 'm', PATH: '/own' })
    expect(env).toMatchObject({
      PATH: '/own',
      HOME: '/root',
      NODE_COMPILE_CACHE: '/tmp/compiled',
      MODEL: 'm',
    })
    expect(Object.keys(env)).not.toContain('DATABASE_URL')
    expect(Object.keys(env)).not.toContain('BOOTSTRAP_API_KEY')
    expect(Object.keys(env)).not.toContain('TZ')
  })

  it('never lets callbacks run in the background, where tokens get lost', () => {
    expect(hostEnvironment({}, { LANGCHAIN_CALLBACKS_BACKGROUND: 'true' })).toMatchObject({
      LANGCHAIN_CALLBACKS_BACKGROUND: 'false',
    })
  })
})

it('passes the last line that a process prints, also when it has no end', async () => {
  const printed: string[] = []
  const { exited } = startHostProcess<{ type: string }, { type: 'open' }>(
    {
      command: {
        file: process.execPath,
        args: ['-e', `console.log('first'); process.stdout.write('last words')`],
      },
      cwd: '/',
      env: {},
      open: { type: 'open' },
      logger: createLogger({ level: 'silent' }),
      printed: (_from, line) => printed.push(line),
      record: async () => async () => undefined,
    },
    {},
    () => undefined,
  )
  await exited
  expect(printed).toEqual(['first', 'last words'])
})

it('has ended also when something that it has left running keeps its output open', async () => {
  const left = `const { spawn } = require('node:child_process')
    const child = spawn('sleep', ['60'], { detached: true, stdio: ['ignore', 'inherit', 'inherit', 3] })
    console.log(child.pid)
    process.exit(7)`
  const { promise: pid, resolve: found } = Promise.withResolvers<number>()
  const { exited } = startHostProcess<{ type: string }, { type: 'open' }>(
    {
      command: { file: process.execPath, args: ['-e', left] },
      cwd: '/',
      env: { PATH: process.env['PATH'] ?? '' },
      open: { type: 'open' },
      logger: createLogger({ level: 'silent' }),
      printed: (_from, line) => found(Number(line)),
      record: async () => async () => undefined,
    },
    {},
    () => undefined,
  )
  const child = await pid
  onTestFinished(() => void process.kill(child, 'SIGKILL'))
  expect(await exited).toMatchObject({ code: 7 })
})

it('HOST-16: a process that closes its channel and goes on is ended, and it is the cause', async () => {
  const code = `require('node:fs').closeSync(3); setInterval(() => undefined, 1000)`
  const { exited } = startHostProcess<{ type: string }, { type: 'open' }>(
    {
      command: { file: process.execPath, args: ['-e', code] },
      cwd: '/',
      env: {},
      open: { type: 'open' },
      logger: createLogger({ level: 'silent' }),
      record: async () => async () => undefined,
    },
    {},
    () => undefined,
  )
  const exit = await exited
  expect(describeExit(exit)).toBe('The graph host was ended because it has closed its channel.')
  expect(isFromOutside(exit)).toBe(false)
})
