import { execFile } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'

/** The folders in which a build writes. */
export interface BuildFolders {
  /** The folder of the whole source; all files in it count. */
  root: string
  /** Folders outside of `root` that several builds use. Only what is added during the build counts. */
  caches: readonly string[]
}

/** The limit of the disk space of a build. */
export interface DiskLimit {
  max_bytes: number
  /** Time between two readings. */
  every_ms: number
}

const BLOCK = 1024
/**
 * The pause between two readings is at least this many times the duration of one reading, since a cache may have many
 * files.
 */
const PAUSES = 10

/**
 * Measures the disk space of a build at intervals with `du`, and calls `exceeded` once if it is above the limit. First
 * measures the caches, then resolves with a function that stops the measuring. A machine without `du` has no limit.
 */
export async function watchDisk(
  { root, caches }: BuildFolders,
  { max_bytes, every_ms }: DiskLimit,
  exceeded: () => void,
): Promise<() => void> {
  const stopped = new AbortController()
  const { signal } = stopped
  const before = await usedBytes(caches, signal)
  const watch = async (): Promise<void> => {
    let last_ms = 0
    for (;;) {
      await delay(Math.max(every_ms, PAUSES * last_ms), undefined, { signal, ref: false })
      const begun = performance.now()
      if ((await usedBytes([root, ...caches], signal)) - before > max_bytes) return exceeded()
      last_ms = performance.now() - begun
    }
  }
  watch().catch(() => undefined)
  return () => stopped.abort()
}

function usedBytes(folders: readonly string[], signal: AbortSignal): Promise<number> {
  if (folders.length === 0) return Promise.resolve(0)
  return new Promise((resolve) => {
    // `du` exits with 1 if files disappear while it reads, but still prints the sum of each folder.
    execFile('du', ['-skx', '--', ...folders], { signal }, (_error, printed) => {
      const blocks = printed.split('\n').map((line) => Number.parseInt(line, 10) || 0)
      resolve(blocks.reduce((sum, one) => sum + one, 0) * BLOCK)
    })
  })
}
