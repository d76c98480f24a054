import { execFileSync } from 'node:child_process'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { longFiles } from '../../test/layers.ts'
import { chooseFiles } from './choose-files.ts'
import { distancesTo, readImportGraph } from './import-graph.ts'
import { readTimes, secondsOf } from './times.ts'

/** Seconds that the chosen files may take together. */
export const LONG_SECONDS = 8 * 60
/** Files that run at a time on two cores, on average: three workers, less what the last of them waits for. */
const PARALLEL = 2
const RECENT_COMMITS = 30
/** Bytes of the largest file whose text is searched for what it needs. */
const MAX_BYTES = 1_000_000
const CODE = /\.(?:[cm]?[jt]sx?|py|sh)$|\/(?:build|install)$/
const CHANGES_ALL = ['package.json', 'package-lock.json', 'vitest.config.ts', 'tsconfig.json']

function gitLines(root: string, ...args: string[]): string[] {
  const text = execFileSync('git', args, {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  return text.split('\n').filter(Boolean)
}

/**
 * Paths that differ from the commit in which this branch left origin/main, uncommitted ones included; undefined if
 * there is no such commit, or if nothing differs from it.
 */
function changedPaths(root: string): string[] | undefined {
  try {
    const [base = ''] = gitLines(root, 'merge-base', 'HEAD', 'origin/main')
    const added = gitLines(root, 'ls-files', '--others', '--exclude-standard')
    const changed = [...gitLines(root, 'diff', '--name-only', base), ...added]
    return changed.length === 0 ? undefined : changed
  } catch {
    return undefined
  }
}

function recentPaths(root: string): string[] {
  return [...new Set(gitLines(root, 'log', `-${RECENT_COMMITS}`, '--name-only', '--format='))]
}

function sources(root: string): Map<string, string> {
  const paths = gitLines(root, 'ls-files', '--cached', '--others', '--exclude-standard')
  return new Map(
    paths.flatMap((path) => {
      const found = statSync(join(root, path), { throwIfNoEntry: false })
      if (found?.isFile() !== true) return []
      const isRead = CODE.test(path) && found.size <= MAX_BYTES
      return [[path, isRead ? readFileSync(join(root, path), 'utf8') : ''] as const]
    }),
  )
}

/**
 * Paths of the long tests that cover the change, most relevant first, and lines that say what was left out. If no
 * change is known, all of them are candidates, first those that cover the newest commits.
 */
export function chooseChanged(root: string): { chosen: string[]; leftOut: string[] } {
  const files = longFiles()
  const changed = changedPaths(root)
  const isAll = changed === undefined || changed.some((path) => CHANGES_ALL.includes(path))
  const distances = distancesTo(changed ?? recentPaths(root), readImportGraph(sources(root)))
  const times = readTimes()
  const candidates = files.map((file) => ({
    file,
    seconds: secondsOf(times, 'long', file),
    distance: distances.get(file) ?? (isAll ? Number.POSITIVE_INFINITY : undefined),
  }))
  const { chosen, leftOut } = chooseFiles(candidates, LONG_SECONDS * PARALLEL)
  return {
    chosen: chosen.map(({ file }) => file),
    leftOut: leftOut.map(({ file, seconds }) => `${file} (${seconds} s)`),
  }
}
