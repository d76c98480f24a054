import { execFile } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import type { ProcessUser } from '../../base/node/confined-command.ts'

interface ProcessEntry {
  pid: number
  parent: number
  uid: number
}

/** The processes of users that only this server uses. */
export interface UserProcesses {
  /**
   * Must be called when a process of the user has started; the returned function must be called when this process has
   * ended. It ends the user's remaining processes, except descendants of processes that still run.
   */
  started(user: ProcessUser, pid: number): () => Promise<void>
}

/** Maximum number of searches for new processes, since a process may start others while it is being ended. */
const ROUNDS = 5

/** Creates a record of the running processes, by user id. */
export function createUserProcesses(): UserProcesses {
  const running = new Map<number, Set<number>>()
  return {
    started(user, pid) {
      const { uid } = user
      const ofUser = running.get(uid) ?? new Set()
      running.set(uid, ofUser.add(pid))
      return async () => {
        ofUser.delete(pid)
        for (let round = 0; round < ROUNDS; round += 1) {
          const left = leftRunning(await processesOf((one) => one === uid), ofUser)
          if (left.length === 0) return
          await endProcesses(user, left)
        }
      }
    },
  }
}

/** Returns the processes that do not descend from one of `running`. Pure. */
export function leftRunning(processes: readonly ProcessEntry[], running: ReadonlySet<number>): number[] {
  const parents = new Map(processes.map(({ pid, parent }) => [pid, parent]))
  const isOfRunning = (pid: number | undefined): boolean =>
    pid !== undefined && (running.has(pid) || isOfRunning(parents.get(pid)))
  return processes.map(({ pid }) => pid).filter((pid) => !isOfRunning(pid))
}

/** All processes of the machine with a matching real user, except zombies. */
export async function processesOf(isWanted: (uid: number) => boolean): Promise<ProcessEntry[]> {
  const found: ProcessEntry[] = []
  for (const name of (await readdir('/proc')).filter((entry) => /^\d+$/.test(entry))) {
    // A process may end meanwhile.
    const status = await readFile(`/proc/${name}/status`, 'utf8').catch(() => '')
    const valueOf = (field: string): number =>
      Number(new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(status)?.[1])
    const isZombie = /^State:\s+Z/m.test(status)
    const uid = valueOf('Uid')
    if (!isZombie && isWanted(uid)) found.push({ pid: Number(name), parent: valueOf('PPid'), uid })
  }
  return found
}

const END = `for (const pid of process.argv.slice(1)) try { process.kill(Number(pid), 'SIGKILL') } catch {}`

/**
 * Ends processes of the user, by default all. A process of this user sends the signals, so that they cannot reach a
 * process of another user that has got the same pid meanwhile.
 */
export async function endProcesses(user: ProcessUser, pids: readonly number[] = [-1]): Promise<void> {
  const args = ['-e', END, '--', ...pids.map(String)]
  await promisify(execFile)(process.execPath, args, { ...user, cwd: '/', env: {} })
}
