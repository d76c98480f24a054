import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { findProgram } from '../isolation/find-program.ts'
import { buildFailed, type BuildStep } from './run-step.ts'

interface PackageManager {
  file: string
  command: string
  args: readonly string[]
}

/** Package managers; the first one whose `file` exists beside langgraph.json is used (P-20). */
const MANAGERS: readonly PackageManager[] = [
  { file: 'package-lock.json', command: 'npm', args: ['ci', '--no-audit', '--no-fund'] },
  { file: 'pnpm-lock.yaml', command: 'pnpm', args: ['install', '--frozen-lockfile'] },
  { file: 'yarn.lock', command: 'yarn', args: ['install', '--frozen-lockfile'] },
  { file: 'package.json', command: 'npm', args: ['install', '--no-audit', '--no-fund'] },
]
const WARNING =
  'Install scripts of packages are not run, since this server has no sandbox for builds; packages that compile something do not work.'

export interface StepsOptions {
  env: Readonly<Record<string, string>>
  /** Whether the install scripts of packages are executed. */
  withScripts: boolean
  log(line: string): void
  /** Receives the warnings for the author of the project. */
  warn(line: string): void
}

/**
 * The steps that install the packages of a Node project with the package manager of its lock file; empty if there is
 * nothing to install. @throws AppError build_failed naming a package manager that is missing
 */
export async function nodeSteps(
  dir: string,
  { env, withScripts, log, warn }: StepsOptions,
): Promise<BuildStep[]> {
  const manager = await findManager(dir)
  if (manager === undefined) {
    log('There is no package.json: nothing is installed.')
    return []
  }
  const { file, command, args } = manager
  const missing = `The project has a ${file}, and ${command} is not installed on this server.`
  if ((await findProgram(command, env)) === undefined) throw buildFailed(missing)
  if (!withScripts) warn(WARNING)
  const title = `${command} ${args.join(' ')}`
  const all = withScripts ? args : [...args, '--ignore-scripts']
  return [{ name: `${command} ${args[0]}`, title, command, args: all }]
}

async function findManager(dir: string): Promise<PackageManager | undefined> {
  for (const manager of MANAGERS) {
    const isThere = await access(join(dir, manager.file)).then(
      () => true,
      () => false,
    )
    if (isThere) return manager
  }
  return undefined
}
