import { execFile, type ExecFileException } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { getPriority, setPriority } from 'node:os'
import { dirname, join } from 'node:path'
import type { Priorities } from './priority-watch.ts'
import type { Processors } from './processor-watch.ts'

// Files in /proc are in memory, so a synchronous read is faster than a read in another thread.

/** The kernel reports the time of processes in hundredths of a second, independently of its own clock rate. */
const MS_PER_TICK = 10
/**
 * First and last of the time fields in /proc/{pid}/stat, counted after the name of the program: user and system time of
 * the process, and of its ended children.
 */
const [FIRST_TICKS, LAST_TICKS] = [11, 14]
const LOWEST = 19
const CGROUPS = '/sys/fs/cgroup'

export function linuxPriorities(): Priorities {
  const own = getPriority()
  let mayRaise: boolean | undefined
  const hasSessions = sharesBySession()
  const hasOwnGroup = (pid: number): boolean => hasSessions && hasOwnSession(pid)
  return {
    family,
    usedMs,
    awakeMs(pid) {
      const [ranNs = 0, waitedNs = 0] = readText(`/proc/${pid}/schedstat`).split(' ').map(Number)
      return (ranNs + waitedNs) / 1e6
    },
    set(pid, nice) {
      try {
        if (hasOwnGroup(pid)) writeFileSync(`/proc/${pid}/autogroup`, String(nice))
        else
          for (const thread of readdirSync(`/proc/${pid}/task`))
            setThread(pid, thread, Math.min(LOWEST, own + nice))
        return true
      } catch {
        // The process has just ended, or the kernel refuses a change now.
        return false
      }
    },
    canRaise: (pid) => hasOwnGroup(pid) || (mayRaise ??= tryRaising()),
  }
}

/** Milliseconds of processor time that a process and its ended children have used; undefined when it has ended. */
function usedMs(pid: number): number | undefined {
  const text = readText(`/proc/${pid}/stat`)
  if (text === '') return undefined
  // The name of the program is in parentheses, and may contain spaces and parentheses itself.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const ticks = fields.slice(FIRST_TICKS, LAST_TICKS + 1).map(Number)
  return ticks.reduce((sum, one) => sum + one, 0) * MS_PER_TICK
}

/** The process and its descendants. */
function family(pid: number): number[] {
  return [pid, ...childrenOf(pid).flatMap(family)]
}

/** The children of a process, read from each of its threads, since any thread may have started a child. */
function childrenOf(pid: number): number[] {
  const texts = threadsOf(pid).map((thread) => readText(`/proc/${pid}/task/${thread}/children`))
  return texts.flatMap((text) => text.split(' ').filter(Boolean).map(Number))
}

function threadsOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`)
  } catch {
    return []
  }
}

/** Sets the priority of a thread, unless it has ended. */
function setThread(pid: number, thread: string, nice: number): void {
  try {
    setPriority(Number(thread), nice)
  } catch (error) {
    if (existsSync(`/proc/${pid}/task/${thread}`)) throw error
  }
}

/**
 * Whether the kernel schedules sessions as groups (autogroup). If so, priorities of processes count only within their
 * session, and the session itself has a priority, which its user may raise. The kernel does so only for processes that
 * are in no control group of its own for processors (sched(7)).
 */
export function sharesBySession(): boolean {
  if (readText('/proc/sys/kernel/sched_autogroup_enabled').trim() !== '1') return false
  const lines = readText('/proc/self/cgroup').trim().split('\n')
  const groups = lines.map((line) => /^\d+:([^:]*):(.*)$/.exec(line))
  const ofVersion1 = groups.find((group) => group?.[1]?.split(',').includes('cpu'))
  if (ofVersion1?.[2] !== undefined) return ofVersion1[2] === '/'
  let folder = join(CGROUPS, groups.find((group) => group?.[1] === '')?.[2] ?? '')
  for (; folder.startsWith(CGROUPS); folder = dirname(folder)) {
    if (existsSync(join(folder, 'cpu.weight'))) return false
  }
  return true
}

/** Whether the process is in another session than this one. */
function hasOwnSession(pid: number): boolean {
  const [own] = readText('/proc/self/autogroup').split(' ')
  const [theirs] = readText(`/proc/${pid}/autogroup`).split(' ')
  return theirs !== '' && own !== theirs
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

/** Whether this process may raise priorities. Finds out by raising its own priority for a moment. */
function tryRaising(): boolean {
  const own = getPriority()
  try {
    setPriority(own - 1)
    setPriority(own)
    return true
  } catch {
    return false
  }
}

/** Maximum number of processes of `taskset` at a time; a host may have any number of descendants. */
const MOST_CHANGES = 8

/**
 * The operations of the watch of processors. `command` is `taskset` of util-linux, which sets them, since Node cannot.
 */
export function linuxProcessors(command = 'taskset'): Processors {
  const own = allowed('self')
  const all = listed(own)
  /** Processes for which the command runs. */
  const changing = new Set<number>()
  /** Processes for which it failed, for example because one of their threads ended meanwhile. */
  const failed = new Set<number>()
  let isMissing = false
  const changed = (pid: number, error: ExecFileException | null): void => {
    changing.delete(pid)
    if (error?.code === 'ENOENT') isMissing = true
    if (error === null) failed.delete(pid)
    else failed.add(pid)
    for (const one of failed) if (allowed(one) === '') failed.delete(one)
  }
  return {
    family,
    usedMs,
    limit(pid, processors = all.length, head) {
      // Limited families are spread over the processors.
      const some = Array.from({ length: processors }, (_, n) => all[(head + n) % all.length] ?? 0)
      const wanted = processors >= all.length ? own : some.toSorted((a, b) => a - b).join(',')
      const has = allowed(pid)
      const isDone = !failed.has(pid) && listed(has).join() === listed(wanted).join()
      if (isMissing || has === '') return true
      // A change may fail after it has taken effect.
      if (changing.has(pid)) return false
      if (isDone) return true
      if (changing.size >= MOST_CHANGES) return false
      changing.add(pid)
      try {
        execFile(command, ['-acp', wanted, String(pid)], (error) => changed(pid, error))
      } catch {
        // There are too few resources to start a process. The next reading tries again.
        changing.delete(pid)
      }
      return false
    },
  }
}

/** The list of the processors that a process may use, such as `0-3,6`; '' when it has ended. */
function allowed(pid: number | 'self'): string {
  return /^Cpus_allowed_list:\s+(\S+)$/m.exec(readText(`/proc/${pid}/status`))?.[1] ?? ''
}

function listed(list: string): number[] {
  return list.split(',').flatMap((range) => {
    const [first = 0, last = first] = range.split('-').map(Number)
    return Array.from({ length: last - first + 1 }, (_, n) => first + n)
  })
}
