import { readdirSync, readFileSync } from 'node:fs'

const TICKS_PER_SECOND = 100

/** Fields of /proc's `stat` after the name: CPU time of user and system in seconds, and the parent's process id. */
function statOf(path: string): { name: string; parent: number; seconds: number } {
  const text = readFileSync(path, 'utf8')
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return {
    name: text.slice(text.indexOf('(') + 1, text.lastIndexOf(')')),
    parent: Number(fields[1]),
    seconds: (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND,
  }
}

function numbersIn(path: string): number[] {
  return readdirSync(path)
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
}

/** CPU seconds of each thread of a process, by the name of the thread and its id. */
export function threadTimes(pid: number): Map<string, number> {
  const times = new Map<string, number>()
  for (const tid of numbersIn(`/proc/${pid}/task`)) {
    try {
      const { name, seconds } = statOf(`/proc/${pid}/task/${tid}/stat`)
      times.set(`${name} ${tid}`, seconds)
    } catch {
      // The thread has ended meanwhile.
    }
  }
  return times
}

/** CPU seconds of a whole process, with threads that have ended. */
export function processSeconds(pid: number): number {
  return statOf(`/proc/${pid}/stat`).seconds
}

/** The processes whose parent is `pid`. */
export function childrenOf(pid: number): number[] {
  return numbersIn('/proc').filter((child) => {
    try {
      return statOf(`/proc/${child}/stat`).parent === pid
    } catch {
      return false
    }
  })
}

/** The command line of a process. */
export function commandOf(pid: number): string {
  return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim()
}
