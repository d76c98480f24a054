import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { LONG } from '../../test/layers.ts'
import type { FileResult } from './results.ts'

const PATH = fileURLToPath(new URL('../../test/times.json', import.meta.url))
/** Seconds of a file that is not in the list yet. */
const UNKNOWN_SECONDS: Record<Length, number> = { short: 2, long: 40 }

/** Whether a file runs in `npm test` or in `npm run test:long`. */
export type Length = 'short' | 'long'

/** Seconds of each test file on two quiet cores, in test/times.json. */
export type Times = Record<Length, Record<string, number>>

/** The length in which a project of vitest.config.ts runs its files. */
export function lengthOf(project: string): Length {
  return LONG.some((name) => name === project) ? 'long' : 'short'
}

/** The kept times; empty if the file is missing. */
export function readTimes(): Times {
  if (!existsSync(PATH)) return { short: {}, long: {} }
  return JSON.parse(readFileSync(PATH, 'utf8')) as Times
}

export function secondsOf(times: Times, length: Length, file: string): number {
  return times[length][file] ?? UNKNOWN_SECONDS[length]
}

/** `times` with those of the files that ran; files that no longer exist are left out. */
export function withTimes(
  times: Times,
  files: readonly FileResult[],
  exists: (file: string) => boolean,
): Times {
  const merged = { short: { ...times.short }, long: { ...times.long } }
  for (const { file, project, ms } of files) merged[lengthOf(project)][file] = Math.round(ms / 100) / 10
  const sorted = (table: Record<string, number>): Record<string, number> =>
    Object.fromEntries(
      Object.entries(table)
        .filter(([file]) => exists(file))
        .toSorted(([a], [b]) => (a < b ? -1 : 1)),
    )
  return { short: sorted(merged.short), long: sorted(merged.long) }
}

export function writeTimes(times: Times): void {
  writeFileSync(PATH, `${JSON.stringify(times, null, 2)}\n`)
}
