import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The root of the project, with a slash at the end. */
export const ROOT = fileURLToPath(new URL('../../../', import.meta.url))

/** What checks have found, and which of them could not run. */
export interface Report {
  problems: string[]
  /** Each with its reason. */
  skipped: string[]
}

/** A program of somebody else that says whether it accepts a file. */
export interface Program {
  name: string
  /** Where it may be: paths from the root of the project, or names that are searched for in `PATH`. */
  places: readonly string[]
  /** How to get it. */
  origin: string
}

/** Folders of programs for administrators, which are not in everybody's `PATH`. */
const ADMIN_FOLDERS = ['/usr/sbin', '/usr/local/sbin']

/** The path of a program; undefined if it is not on this machine. */
function findProgram({ places }: Program): string | undefined {
  const folders = [...(process.env['PATH'] ?? '').split(':'), ...ADMIN_FOLDERS]
  return places
    .flatMap((place) =>
      place.includes('/') ? [join(ROOT, place)] : folders.map((folder) => join(folder, place)),
    )
    .find((path) => existsSync(path))
}

/**
 * Has a program check something: a problem with its output if it ends with another code than 0, or if `isBad` finds a
 * fault in the output.
 */
export function checkWith(
  program: Program,
  args: readonly string[],
  {
    of,
    isBad,
    ...options
  }: { of: string; isBad?: (output: string) => boolean; cwd?: string; env?: NodeJS.ProcessEnv },
): Report {
  const path = findProgram(program)
  if (path === undefined)
    return { problems: [], skipped: [`${of}, because ${program.name} is missing (${program.origin})`] }
  const done = spawnSync(path, args, { ...options, encoding: 'utf8' })
  const output = `${done.stdout}${done.stderr}`.trim()
  const isRefused = done.status !== 0 || isBad?.(output) === true
  return { problems: isRefused ? [`${of}: ${program.name}: ${output}`] : [], skipped: [] }
}

export function together(reports: readonly Report[]): Report {
  return {
    problems: reports.flatMap(({ problems }) => problems),
    skipped: reports.flatMap(({ skipped }) => skipped),
  }
}
