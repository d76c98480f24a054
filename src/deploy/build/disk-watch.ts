import { execFile } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'

/** The limit of a folder's disk space. */
export interface DiskLimit {
  max_bytes: number
  /** Time between two readings. */
  every_ms: number
}

const BLOCK = 1024

/**
 * Measures the disk space of the files below `dir` at intervals with `du`, and calls `exceeded` once if it is above the
 * limit. On a machine without `du` there is no limit. Returns a function that stops the measuring.
 */
export function watchDisk(dir: string, { max_bytes, every_ms }: DiskLimit, exceeded: () => void): () => void {
  const stopped = new AbortController()
  const { signal } = stopped
  const watch = async (): Promise<void> => {
    for (;;) {
      await delay(every_ms, undefined, { signal, ref: false })
      if ((await usedBytes(dir, signal)) > max_bytes) return exceeded()
    }
  }
  watch().catch(() => undefined)
  return () => stopped.abort()
}

function usedBytes(dir: string, signal: AbortSignal): Promise<number> {
  return new Promise((resolve) => {
    // `du` exits with 1 if files disappear while it reads, but still prints the sum.
    execFile('du', ['-skx', dir], { signal }, (_error, printed) => {
      resolve((Number.parseInt(printed, 10) || 0) * BLOCK)
    })
  })
}
