import { type ChildProcess, spawn } from 'node:child_process'
import { text as textOf } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { NODE_COMPILE_CACHE } from '../../support/compile-cache.ts'
import { until } from '../../support/stores/clickhouse/embedded-clickhouse.ts'
import { nextMillisecond } from '../../support/eventually.ts'
import { startFaultProxy } from '../../support/faults/proxies/fault.ts'
import { runCommand } from '../../support/run-command.ts'
import { useDeployment } from '../deployments/use-deployment.ts'
import { inLong } from '../../support/length.ts'

const MAIN = fileURLToPath(new URL('../../../src/main.ts', import.meta.url))
const UNKNOWN = 'a5a5a5a5-0000-4000-8000-000000000000'
const ID = /^[0-9a-f-]{36}$/

const setup = useDeployment()
const children = new Set<ChildProcess>()
afterAll(() => {
  for (const child of children) child.kill('SIGKILL')
})

function environment() {
  return { PATH: process.env['PATH'], WEIR_DEPLOYMENT_URL: setup().url, WEIR_API_KEY: setup().weir.key }
}

function start(args: readonly string[], env: Record<string, string> = {}) {
  const child = spawn(process.execPath, [MAIN, 'runs', ...args], {
    env: { ...environment(), NODE_COMPILE_CACHE, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  children.add(child)
  child.once('close', () => children.delete(child))
  return child
}

/**
 * Runs `weir runs` and returns its result. The command `tail` runs in a separate process, because it exits the process
 * when its output closes.
 */
async function weirRuns(
  ...args: string[]
): Promise<{ code: number | null; lines: string[]; stderr: string }> {
  if (args[0] !== 'tail') {
    const { code, stdout, stderr } = await runCommand(['runs', ...args], { env: environment() })
    return { code, lines: stdout.trimEnd().split('\n'), stderr }
  }
  const child = start(args)
  const [stdout, stderr, code] = await Promise.all([
    textOf(child.stdout),
    textOf(child.stderr),
    new Promise<number | null>((resolve) => child.on('close', resolve)),
  ])
  return { code, lines: stdout.trimEnd().split('\n'), stderr }
}

async function json<T>(...args: string[]): Promise<T> {
  const { lines, stderr } = await weirRuns(...args, '--json')
  expect(stderr).toBe('')
  return JSON.parse(lines.join('\n')) as T
}

const idsOf = (runs: readonly { run_id: string }[]): string[] => runs.map(({ run_id }) => run_id)

async function newThread(): Promise<string> {
  return (await setup().client.threads.create()).thread_id
}

/** A run that was created later than all others. */
async function newRun(thread_id: string, input: Record<string, unknown>): Promise<string> {
  await nextMillisecond()
  const { run_id } = await setup().client.runs.create(thread_id, 'tokens', {
    input,
    streamMode: ['updates', 'messages-tuple'],
  })
  return run_id
}

/** Two threads. The first has a run that sleeps and one that waits for it; the second has a run that has ended. */
async function someRuns() {
  const { client } = setup()
  const [busy, idle] = [await newThread(), await newThread()]
  const running = await newRun(busy, { sleep: 600_000 })
  const pending = await newRun(busy, {})
  const done = await newRun(idle, { tokens: 1 })
  await client.runs.join(idle, done)
  await until('it runs', async () => (await client.runs.get(busy, running)).status === 'running')
  return { busy, idle, running, pending, done }
}

describe('weir runs list', () => {
  it('lists the newest runs of all threads, of one, and by status', async () => {
    const { busy, running, pending, done } = await someRuns()
    const mine = await json<{ run_id: string }[]>('list', '--limit', '3')
    expect(idsOf(mine)).toEqual([done, pending, running])
    expect(idsOf(await json('list', '--thread', busy))).toEqual([pending, running])
    expect(idsOf(await json('list', '--status', 'pending'))).toEqual([pending])
    expect(idsOf(await json('list', '--status', 'success', '--limit', '1'))).toEqual([done])

    const { lines, stderr } = await weirRuns('list', '--limit', '1')
    expect(stderr).toContain('the newest 1, and there may be more: --limit N shows more')
    expect(lines[0]).toMatch(/^RUN +THREAD +GRAPH +STATUS +MADE +TOOK +ERROR$/)
    expect(lines[1]).toMatch(
      /^[0-9a-f-]{36} {2}[0-9a-f-]{36} {2}tokens +success +\d{4}-\d\d-\d\d [\d:]{8} {2}[\d.]+ s$/,
    )
    const none = await weirRuns('list', '--status', 'timeout')
    expect(none.lines).toEqual(['There are no such runs.'])
    expect(none.stderr).toMatch(/^The list is of http:.* \(deployment .+\); name another deployment/)
    await weirRuns('cancel', '--status', 'all', '--wait')
  })

  inLong(() => {
    it('marks a run that waits for a human until it is resumed', async () => {
      const { client } = setup()
      const thread_id = await newThread()
      await client.runs.wait(thread_id, 'kinds', { input: { kind: 'ask' } })
      const statuses = async (): Promise<(string | undefined)[]> => {
        const { lines } = await weirRuns('list', '--thread', thread_id)
        return lines.slice(1).map((line) => line.split(/ {2,}/)[3])
      }
      expect(await statuses()).toEqual(['success, waits for a human'])
      await client.runs.wait(thread_id, 'kinds', { command: { resume: 'yes' } })
      expect(await statuses()).toEqual(['success', 'success'])
    })

    it('finds the newest runs among more threads than one page', async () => {
      const { client } = setup()
      const old = await newThread()
      const others = await Promise.all(Array.from({ length: 130 }, () => newThread()))
      const runs: string[] = []
      for (const thread_id of [others[0], old, others[64], others[129]])
        runs.unshift(await newRun(thread_id ?? '', {}))
      for (const thread_id of others.slice(1, 60))
        await client.threads.update(thread_id, { metadata: { seen: 1 } })
      expect(idsOf(await json('list', '--limit', '4'))).toEqual(runs)
    })
  })
})

describe('weir runs cancel', () => {
  it('cancels runs by their ids on any thread, and lists those that it could not cancel', async () => {
    const { client } = setup()
    const { busy, running, pending, done } = await someRuns()
    const { code, lines } = await weirRuns('cancel', running, done, UNKNOWN, pending, '--wait')
    expect(code).toBe(1)
    expect(lines.map((line) => line.split(/ {2,}/))).toEqual([
      ['RUN', 'OUTCOME', 'STATUS'],
      [running, 'cancelled', 'interrupted'],
      [done, 'had ended', 'success'],
      [UNKNOWN, 'not found'],
      [pending, 'cancelled', 'interrupted'],
    ])
    expect((await client.threads.get(busy)).status).not.toBe('busy')
  })

  inLong(() => {
    it('cancels by status, and rolls back', async () => {
      const { client } = setup()
      const { busy, running, pending } = await someRuns()
      const waiting = await weirRuns('cancel', '--status', 'pending')
      expect([waiting.code, waiting.lines[1]]).toMatchObject([0, expect.stringContaining(pending)])
      const rolled = await json<{ run_id: string; status: string }[]>(
        ...['cancel', '--status', 'all', '--action', 'rollback', '--wait'],
      )
      expect(rolled).toMatchObject([{ run_id: running, status: 'deleted' }])
      expect(idsOf(await client.runs.list(busy))).toEqual([pending])
      expect(await weirRuns('cancel', '--status', 'all')).toMatchObject({
        code: 0,
        lines: ['There are no such runs.'],
      })
    })
  })
})

describe('weir runs tail', () => {
  it('prints the events of a run to its end, also after it', async () => {
    const { client } = setup()
    const thread_id = await newThread()
    const run_id = await newRun(thread_id, { tokens: 3 })
    const live = await weirRuns('tail', run_id)
    expect(live).toMatchObject({ code: 0, stderr: `Run ${run_id} has ended: success.\n` })
    expect(live.lines[0]).toMatch(/^metadata {6}\{"run_id"/)
    expect(live.lines.map((line) => line.split(' ')[0])).toEqual(
      expect.arrayContaining(['metadata', 'updates', 'messages']),
    )
    const events = (await weirRuns('tail', run_id, '--json')).lines.map(
      (line) => JSON.parse(line) as { id: string; event: string; data: object },
    )
    expect(events.map(({ event }) => event)).toEqual(live.lines.map((line) => line.split(' ')[0]))
    expect(events[0]).toMatchObject({ event: 'metadata', data: { run_id } })

    const failing = await newRun(thread_id, { fail: true })
    await client.runs.join(thread_id, failing).catch(() => undefined)
    const failed = await weirRuns('tail', failing)
    expect([failed.code, failed.lines.at(-1)]).toMatchObject([
      1,
      expect.stringMatching(/^error {9}.*on request/),
    ])
  })

  inLong(() => {
    it('continues after the last event when the connection breaks', async () => {
      const proxy = await startFaultProxy({ target: setup().weir.deploymentUrl })
      try {
        const run_id = await newRun(await newThread(), { tokens: 200, tokenDelayMs: 10 })
        const child = start(['tail', run_id, '--json'], { WEIR_DEPLOYMENT_URL: proxy.url })
        let output = ''
        child.stdout.on('data', (text: Buffer) => void (output += text.toString()))
        const ended = new Promise<number | null>((resolve) => child.on('close', resolve))
        for (const lines of [10, 60]) {
          await until('some has come', () => output.split('\n').length > lines)
          await proxy.set({ kind: 'refuse' })
          await proxy.set({ kind: 'pass' })
        }
        expect(await ended).toBe(0)
        expect(output.trimEnd().split('\n')).toEqual((await weirRuns('tail', run_id, '--json')).lines)
      } finally {
        await proxy.close()
      }
    })

    it('follows a thread, from now on or from the oldest stored event', async () => {
      const { client } = setup()
      const thread_id = await newThread()
      const first = await newRun(thread_id, { tokens: 1 })
      await client.runs.join(thread_id, first)
      const child = start(['tail', '--thread', thread_id, '--from-start', '--mode', 'lifecycle', '--json'])
      let output = ''
      child.stdout.on('data', (text: Buffer) => void (output += text.toString()))
      await until('the first run was told', () => output.includes('run_done'))
      const second = await newRun(thread_id, { tokens: 1 })
      await until('the second run was told', () => output.split('run_done').length > 2)
      child.kill('SIGINT')
      const told = output
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as { data: { run_id: string } })
      expect(told.map(({ data }) => data.run_id)).toEqual([first, first, second, second])
    })
  })
})

describe('weir runs', () => {
  it('exits with an error message for invalid arguments', async () => {
    for (const [args, words] of [
      [[], 'Usage: weir runs list'],
      [['cancel'], 'Usage: weir runs list'],
      [['cancel', UNKNOWN, '--status', 'all'], 'Usage: weir runs list'],
      [['cancel', '--status', 'success'], '--status must be one of pending, running, all. It is "success".'],
      [['cancel', UNKNOWN, '--action', 'stop'], '--action must be one of interrupt, rollback. It is "stop".'],
      [['list', '--limit', '0'], '--limit must be a number from 1 to 1000. It is "0".'],
      [['list', '--status', 'lost'], '--status must be one of pending, running, success'],
      [['list', '--thread', UNKNOWN], `There is no thread ${UNKNOWN} (404)`],
      [['tail', UNKNOWN], `There is no run ${UNKNOWN} (404)`],
      [['tail', UNKNOWN, '--thread', UNKNOWN], 'Usage: weir runs list'],
      [['list', '--url', 'http://127.0.0.1:1'], 'No server answers at http://127.0.0.1:1'],
      [['list', '--key', 'nope'], '(401)'],
      [['tail', 'x'], '"x" is not the id of a run; weir runs list shows them.'],
    ] as const) {
      const { code, stderr } = await weirRuns(...args)
      expect([args, code, stderr]).toEqual([args, 2, expect.stringContaining(words)])
    }
  })
})

inLong(() => {
  it('a run is found by its id alone', async () => {
    const run_id = await newRun(await newThread(), {})
    expect(run_id).toMatch(ID)
    const answer = await setup().request(`/runs/${run_id}`)
    expect(await answer.json()).toMatchObject({ run_id })
    expect((await setup().request(`/runs/${UNKNOWN}`)).status).toBe(404)
  })
})
