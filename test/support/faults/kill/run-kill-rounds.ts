import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Run, Thread } from '../../../../src/runs/model.ts'
import { eventually } from '../../eventually.ts'
import { type RunServer, startRunServer } from '../../runs/server.ts'

/** The processes that are killed; `starting` are hosts that are not yet open. */
export const VICTIMS = ['server', 'host', 'both', 'starting'] as const
export type Victim = (typeof VICTIMS)[number]

const THREADS = 3
const RUNS = 3
/**
 * Milliseconds until all runs must have ended: long, for slow machines. The limit of 5 s for recovery is checked in
 * `test/long`.
 */
const SETTLE_MS = 120_000

interface Beat {
  thread_id: string
  run_id: string
  pid: number
  at: number
}

export interface RoundReport {
  victim: Victim
  statuses: string[]
  /** Highest attempt of each run. */
  attempts: number[]
  /**
   * Milliseconds from the kill (or from the restart after it) until each run that was executing executes again or has
   * ended.
   */
  takenBackMs: number
  /** Milliseconds from the kill (or from the restart after it) until all runs have ended. */
  settledMs: number
}

/**
 * Kills a deployment at a random moment of its work and checks D-4, D-43 and D-44; throws when one of these rules is
 * broken. `env` is the environment of the server, as for `startRunServer`.
 */
export async function runKillRound(victim: Victim, env: Record<string, string> = {}): Promise<RoundReport> {
  const dataDir = await mkdtemp(join(tmpdir(), 'weir-run-kill-'))
  const [file, gate] = [join(dataDir, 'beats'), join(dataDir, 'gate')]
  await writeFile(file, '')
  let server = await startRunServer(dataDir, env)
  try {
    const runs = await createWork(server, file, gate)
    if (victim === 'starting') await killStarting(server, file)
    await eventually(async () => {
      if ((await readBeats(file)).some(({ run_id }) => run_id === runs[0]?.run_id)) return
      const now = await Promise.all(runs.map(({ run_id }) => server.ask<Run>('runs', 'get', null, run_id)))
      const told = now.map(({ status, attempt, error }) => ({ status, attempt, error }))
      throw new Error(
        `the first run does not work: ${JSON.stringify(told)}, hosts ${JSON.stringify(await server.hosts())}`,
      )
    })
    await delay(Math.random() * 600)
    const atWork = new Set((await readBeats(file)).map(({ pid }) => pid))
    const hosts = (await server.hosts()).filter((pid) => atWork.has(pid))
    const running = (await readRuns(server, runs)).filter(({ status }) => status === 'running')
    if (victim === 'host' || victim === 'both') for (const pid of hosts) killIfThere(pid)
    if (victim === 'server' || victim === 'both') {
      await server.kill()
      server = await startRunServer(dataDir, env)
    }
    await writeFile(gate, '')
    const restarted = Date.now()
    const takenBackMs = victim === 'starting' ? 0 : (await takenBack(server, running)) - restarted
    const ended = await settled(server, runs)
    const settledMs = Date.now() - restarted
    checkEnds(ended)
    checkThreads(await threadsOf(server, runs))
    checkUsage(await server.usage())
    checkAlone(await readBeats(file))
    return {
      victim,
      statuses: ended.map(({ status }) => status),
      attempts: ended.map(({ attempt }) => attempt),
      takenBackMs,
      settledMs,
    }
  } finally {
    await server.stop()
    await rm(dataDir, { recursive: true, force: true })
  }
}

/**
 * Creates several runs on each of several threads; on each thread one runs and the others wait. The last run of each
 * thread and the very first run do not end before the gate opens, so that a run is executing at every moment.
 */
async function createWork(server: RunServer, file: string, gate: string): Promise<Run[]> {
  const runs: Run[] = []
  for (let n = 0; n < THREADS; n++) {
    const { thread_id } = await server.ask<Thread>('threads', 'create', {})
    for (let i = 0; i < RUNS; i++) {
      const isHeld = i === RUNS - 1 || runs.length === 0
      const input = { file, beats: 10, ...(isHeld && { gate }) }
      const request = { assistant_id: 'beats', input }
      runs.push(await server.ask<Run>('runs', 'create', thread_id, request))
    }
  }
  return runs
}

function readRuns(server: RunServer, runs: readonly Run[]): Promise<Run[]> {
  return Promise.all(runs.map(({ thread_id, run_id }) => server.ask<Run>('runs', 'get', thread_id, run_id)))
}

/** Kills idle hosts and the hosts that replace them: only twice, so that no run reaches the maximum of attempts. */
async function killStarting(server: RunServer, file: string): Promise<void> {
  for (let n = 0; n < 2; n++) {
    const atWork = new Set((await readBeats(file)).map(({ pid }) => pid))
    for (const pid of await server.hosts()) if (!atWork.has(pid)) killIfThere(pid)
    await delay(Math.random() * 200)
  }
}

function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // The process has exited by itself.
  }
}

/** Resolves with the time (epoch milliseconds) at which no run is still in the state that the killed process left. */
function takenBack(server: RunServer, running: readonly Run[]): Promise<number> {
  return eventually(async () => {
    const now = await readRuns(server, running)
    const left = now.filter(
      ({ status, attempt }, n) => status === 'running' && attempt === running[n]?.attempt,
    )
    if (left.length > 0) throw new Error(`${left.length} runs are as they were left`)
    return Date.now()
  }, SETTLE_MS)
}

function settled(server: RunServer, runs: readonly Run[]): Promise<Run[]> {
  return eventually(async () => {
    const now = await readRuns(server, runs)
    const open = now.filter(({ status }) => status === 'pending' || status === 'running')
    if (open.length > 0)
      throw new Error(
        `${open.length} runs are open: ${JSON.stringify(open.map(({ status, attempt }) => [status, attempt]))}`,
      )
    return now
  }, SETTLE_MS)
}

function threadsOf(server: RunServer, runs: readonly Run[]): Promise<Thread[]> {
  const ids = [...new Set(runs.map(({ thread_id }) => thread_id))]
  return Promise.all(ids.map((id) => server.ask<Thread>('threads', 'get', id)))
}

/** Checks that every run has succeeded: a kill must not make a node fail. */
function checkEnds(runs: readonly Run[]): void {
  const failed = runs.filter(({ status }) => status !== 'success')
  if (failed.length > 0) {
    throw new Error(JSON.stringify(failed.map(({ status, attempt, error }) => ({ status, attempt, error }))))
  }
}

/** Checks that no thread stays busy, and that each thread's state has the three steps of every run. */
function checkThreads(threads: readonly Thread[]): void {
  for (const { status, values_json } of threads) {
    const { steps } = JSON.parse(values_json ?? '{}') as { steps?: string[] }
    if (status !== 'idle') throw new Error(`a thread is ${status}`)
    if (steps?.length !== RUNS * 3)
      throw new Error(`steps are missing or were done twice: ${JSON.stringify(steps)}`)
  }
}

/** Checks that each run counts once, and each of its nodes once. */
function checkUsage(counted: Awaited<ReturnType<RunServer['usage']>>): void {
  const runs = THREADS * RUNS
  const [all] = counted
  if (all?.agent_runs !== runs || all.nodes_executed !== 3 * runs)
    throw new Error(`the counts are wrong: ${JSON.stringify(counted)}`)
}

/**
 * Checks that two processes never execute on one thread at the same time. Executing nodes write lines called beats; all
 * beats of one process must come before those of the next.
 */
function checkAlone(beats: readonly Beat[]): void {
  for (const thread_id of new Set(beats.map((beat) => beat.thread_id))) {
    const workers: string[] = []
    for (const { run_id, pid } of beats.filter((beat) => beat.thread_id === thread_id)) {
      const worker = `${run_id} in ${pid}`
      if (workers.at(-1) === worker) continue
      if (workers.includes(worker))
        throw new Error(`two at work at the same time: ${worker} and ${workers.at(-1)}`)
      workers.push(worker)
    }
  }
}

async function readBeats(file: string): Promise<Beat[]> {
  const lines = (await readFile(file, 'utf8')).split('\n').filter((line) => line.endsWith('}'))
  return lines.map((line) => JSON.parse(line) as Beat)
}
