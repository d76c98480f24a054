import { spawn } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'
import { eachLine } from '../../base/streams/bounded-lines.ts'

export interface BuildFolders {
  /** The folder of the whole source; all files in it count. */
  root: string
  /** Folders outside of `root` that several builds use. Only what is added during the build counts. */
  caches: readonly string[]
}

export interface DiskLimit {
  max_bytes: number
  /** Maximum number of files, folders and links. */
  max_files: number
  /** Time between two readings. */
  every_ms: number
}

/** Where and how to measure. */
export interface DiskMeasure extends DiskLimit {
  /** The variables with which `du` is found. */
  env: Readonly<Record<string, string>>
}

/** What a build has exceeded. `unreadable`: it has folders that the server cannot read, and so not measure. */
export type DiskFault = 'bytes' | 'files' | 'unreadable'

const BLOCK = 1024
/**
 * The pause between two readings is at least this many times the duration of one reading, since a cache may have many
 * files.
 */
const PAUSES = 10

interface Usage {
  bytes: number
  files: number
  unreadable: boolean
}

/**
 * Measures the disk of a build at intervals with `du`, and calls `exceeded` once if it is above a limit. First measures
 * the caches, then resolves with a function that stops the measuring. A machine without `du` has no limit.
 */
export async function watchDisk(
  { root, caches }: BuildFolders,
  limit: DiskMeasure,
  exceeded: (fault: DiskFault) => void,
): Promise<() => void> {
  const stopped = new AbortController()
  const { signal } = stopped
  const before = await usageOf(caches, limit, signal)
  const watch = async (): Promise<void> => {
    let last_ms = 0
    for (;;) {
      await delay(Math.max(limit.every_ms, PAUSES * last_ms), undefined, { signal, ref: false })
      const begun = performance.now()
      const fault = faultOf(await usageOf([root, ...caches], limit, signal), before, limit)
      if (fault !== undefined && !signal.aborted) return exceeded(fault)
      last_ms = performance.now() - begun
    }
  }
  watch().catch(() => undefined)
  return () => stopped.abort()
}

function faultOf(now: Usage, before: Usage, { max_bytes, max_files }: DiskLimit): DiskFault | undefined {
  if (now.bytes - before.bytes > max_bytes) return 'bytes'
  if (now.files - before.files > max_files) return 'files'
  return now.unreadable && !before.unreadable ? 'unreadable' : undefined
}

async function usageOf(
  folders: readonly string[],
  { env }: DiskMeasure,
  signal: AbortSignal,
): Promise<Usage> {
  const options = { signal, env: { ...env, LC_ALL: 'C' } }
  const [blocks, files] = [await sum('-k', folders, options), await sum('--inodes', folders, options)]
  return { bytes: blocks.sum * BLOCK, files: files.sum, unreadable: blocks.unreadable }
}

/** The sum of the numbers that `du` prints. It also exits with an error if files disappear while it reads. */
function sum(
  unit: string,
  folders: readonly string[],
  options: { signal: AbortSignal; env: Record<string, string> },
): Promise<{ sum: number; unreadable: boolean }> {
  const found = { sum: 0, unreadable: false }
  if (folders.length === 0) return Promise.resolve(found)
  return new Promise((resolve) => {
    const child = spawn('du', ['-sx', unit, '--', ...folders], {
      ...options,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    eachLine(child.stdout, (line) => {
      found.sum += Number.parseInt(line, 10) || 0
    })
    eachLine(child.stderr, (line) => {
      found.unreadable ||= line.endsWith('Permission denied')
    })
    child.once('error', () => resolve(found))
    child.once('close', () => resolve(found))
  })
}
