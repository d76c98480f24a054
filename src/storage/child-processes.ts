import { execFile } from 'node:child_process'
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { Logger } from '../base/log.ts'

/** Identifies a process by pid and start time, because a later process may have the same pid. */
interface ProcessId {
  readonly pid: number
  readonly started: string
}

interface ChildRecord extends ProcessId {
  readonly name: string
  readonly parent: ProcessId
}

const FOLDER = 'processes'
const DEATH_MS = 5_000

/**
 * Records in DATA_DIR that a child process belongs to this process (decision D-4). If this process ends without ending
 * the child, the next start ends it. Resolves with the function that removes the record. Neither rejects: a full disk
 * must not end a server that starts a child, so such a child has no record.
 */
export async function recordChild(dataDir: string, name: string, pid: number): Promise<() => Promise<void>> {
  const started = await startTime(pid)
  const own = await startTime(process.pid)
  if (started === undefined || own === undefined) return async () => undefined
  const record: ChildRecord = { name, pid, started, parent: { pid: process.pid, started: own } }
  const folder = join(dataDir, FOLDER)
  const file = join(folder, `${name}-${pid}.json`)
  const part = `${file}.part`
  try {
    await mkdir(folder, { recursive: true })
    await writeFile(part, `${JSON.stringify(record)}\n`)
    await rename(part, file)
  } catch {
    await removeIfPossible(part)
  }
  return () => removeIfPossible(file)
}

async function removeIfPossible(file: string): Promise<void> {
  await rm(file, { force: true }).catch(() => undefined)
}

/**
 * Ends the children that an ended server left behind in this DATA_DIR, and waits until they have exited. Children of a
 * server that is still running are not touched. Returns how many were ended.
 */
export async function endLeftovers(dataDir: string, logger: Logger): Promise<number> {
  const folder = join(dataDir, FOLDER)
  const names = await readdir(folder).catch(() => [])
  let ended = 0
  for (const name of names) {
    const file = join(folder, name)
    const record = await readRecord(file)
    if (record !== undefined && (await isAlive(record))) {
      if (await isAlive(record.parent)) continue
      logger.warn({ child: record.name, pid: record.pid }, 'ending a child process of an earlier start')
      await end(record)
      ended += 1
    }
    await rm(file, { force: true })
  }
  return ended
}

async function readRecord(file: string): Promise<ChildRecord | undefined> {
  try {
    return parseRecord(JSON.parse(await readFile(file, 'utf8')))
  } catch {
    return undefined
  }
}

function parseRecord(value: unknown): ChildRecord | undefined {
  const parent = isObject(value) ? value['parent'] : undefined
  if (!isObject(value) || !isProcessId(value) || !isProcessId(parent)) return undefined
  const { name } = value
  // Pid 1 may be the server itself, in a container, but never one of its children.
  if (value.pid === 1) return undefined
  return typeof name === 'string' ? { name, pid: value.pid, started: value.started, parent } : undefined
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}

function isProcessId<T>(value: T): value is T & ProcessId {
  if (!isObject(value)) return false
  return Number.isInteger(value['pid']) && Number(value['pid']) > 0 && typeof value['started'] === 'string'
}

async function isAlive(id: ProcessId): Promise<boolean> {
  return (await startTime(id.pid)) === id.started
}

async function end(id: ProcessId): Promise<void> {
  process.kill(id.pid, 'SIGKILL')
  const deadline = performance.now() + DEATH_MS
  while ((await isAlive(id)) && performance.now() < deadline) await delay(5)
}

/**
 * The start time of a process, as an opaque text. Undefined if the process is not running; a zombie does not count as
 * running. The time is read from /proc if it exists, together with the id of the boot, because pids and ticks repeat
 * after a reboot. Otherwise it is read from `ps`.
 */
export async function startTime(pid: number): Promise<string | undefined> {
  if (process.platform !== 'linux') return startTimeFromPs(pid)
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8')
    // The second field is the command in parentheses and may contain anything; the start time is the 22nd.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    if (fields[0] === 'Z' || fields[0] === 'X') return undefined
    const boot = await readFile('/proc/sys/kernel/random/boot_id', 'utf8').catch(() => '')
    return `${boot.trim()}:${fields[19]}`
  } catch {
    return undefined
  }
}

async function startTimeFromPs(pid: number): Promise<string | undefined> {
  try {
    // Fixed locale and time zone, so that the text is always the same.
    const env = { PATH: '/bin:/usr/bin', LC_ALL: 'C', TZ: 'UTC' }
    const { stdout } = await promisify(execFile)('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], { env })
    const [state = '', ...started] = stdout.trim().split(/\s+/)
    return state === '' || state.startsWith('Z') ? undefined : started.join(' ')
  } catch {
    return undefined
  }
}
