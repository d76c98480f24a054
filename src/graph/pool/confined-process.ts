import { readdirSync, readFileSync } from 'node:fs'
import { constants } from 'node:os'

/** The end of a process, as Node reports it to the parent. */
interface Exit {
  code: number | null
  signal: NodeJS.Signals | null
}

const SIGNALLED = 128

/**
 * Converts the end of a sandbox to the end of the process in it. If a signal ended that process, the sandbox exits with
 * 128 plus the number of the signal.
 */
export function exitInside({ code, signal }: Exit): Exit {
  if (code === null || code <= SIGNALLED) return { code, signal }
  const found = Object.entries(constants.signals).find(([, number]) => number === code - SIGNALLED)
  return found === undefined ? { code, signal } : { code: null, signal: found[0] as NodeJS.Signals }
}

/**
 * The pid of the program that a sandbox runs. The sandbox has one child, its init process, whose oldest child is the
 * program. Signals must be sent to the program, and its memory counts as the memory of the host. Undefined while the
 * sandbox starts.
 */
export function pidInside(sandbox: number): number | undefined {
  const children = new Map<number, { pid: number; started: number }>()
  for (const name of readdirSync('/proc')) {
    const found = /^\d+$/.test(name) ? readStat(name) : undefined
    if (found === undefined) continue
    const known = children.get(found.parent)
    if (known === undefined || found.started < known.started)
      children.set(found.parent, { pid: Number(name), started: found.started })
  }
  const init = children.get(sandbox)
  return init && children.get(init.pid)?.pid
}

const PARENT = 1
const STARTED = 19

function readStat(name: string): { parent: number; started: number } | undefined {
  try {
    const text = readFileSync(`/proc/${name}/stat`, 'utf8')
    // The name of the program is in parentheses, and may contain spaces and parentheses itself.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    return { parent: Number(fields[PARENT]), started: Number(fields[STARTED]) }
  } catch {
    return undefined
  }
}
