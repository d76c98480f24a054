import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { SourceFile } from './pack-source.ts'
import type { LocalGraph, LocalProject } from './project.ts'

const LOCK_FILES = ['package-lock.json', 'pnpm-lock.yaml', 'yarn.lock']
const SCRIPT = /\.[cm]?[jt]sx?$/

/**
 * The number and names of a project's graphs, with their languages if some are in Python, and with the required version
 * of Python.
 */
export function graphsText({
  graphs,
  python_version,
}: Pick<LocalProject, 'graphs' | 'python_version'>): string {
  const languages = new Set(graphs.map(({ language }) => language))
  const python = ['python', ...(python_version === undefined ? [] : [python_version])].join(' ')
  const names = graphs.map(({ id }) => id).join(', ')
  const shown = languages.has('javascript') ? `javascript, ${python}` : python
  const count = `${graphs.length} graph${graphs.length === 1 ? '' : 's'}: ${names}`
  return languages.has('python') ? `${count} (${shown})` : count
}

/**
 * Warnings about files that the source lacks, one sentence each. They are not errors, since the build may make these
 * files.
 */
export function sourceWarnings(
  { dir, graphs }: Pick<LocalProject, 'dir' | 'graphs'>,
  files: readonly Pick<SourceFile, 'path'>[],
): string[] {
  const paths = new Set(files.map(({ path }) => path))
  // A graph may be named without the ending of its file, or with that of its compiled form.
  const stems = new Set(files.map(({ path }) => path.replace(SCRIPT, '')))
  const isThere = (path: string): boolean => {
    const stem = path.replace(SCRIPT, '')
    return paths.has(path) || stems.has(stem) || stems.has(`${stem}/index`)
  }
  const missing = graphs.flatMap(({ id, path }) =>
    path === null || isThere(path) ? [] : [missingText(dir, { id, path })],
  )
  return [...missing, ...packageWarnings(graphs, paths)]
}

function missingText(dir: string, { id, path }: { id: string; path: string }): string {
  if (existsSync(join(dir, path)))
    return `Graph "${id}": .gitignore or .dockerignore leaves out ${path}, so it fails unless the build makes the file.`
  return `Graph "${id}": there is no file ${path}, so it fails unless the build makes the file.`
}

function packageWarnings(graphs: readonly LocalGraph[], paths: ReadonlySet<string>): string[] {
  if (!graphs.some(({ language }) => language === 'javascript')) return []
  if (!paths.has('package.json'))
    return ['There is no package.json beside langgraph.json, so no packages are installed.']
  if (LOCK_FILES.some((name) => paths.has(name))) return []
  return [
    'There is no lock file such as package-lock.json, so a build may install newer packages than you have.',
  ]
}
