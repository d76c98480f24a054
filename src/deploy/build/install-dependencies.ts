import { type BuildCommands, NO_COMMANDS } from '../model.ts'
import type { ProjectDemands } from '../source/project-demands.ts'
import { type BuildFolders, type DiskFault, type DiskLimit, watchDisk } from './disk-watch.ts'
import { nodeSteps, type StepsOptions } from './node-steps.ts'
import { environmentStep, inEnvironment, packageSteps } from './python-steps.ts'
import { buildFailed, type BuildStep, runStep, type StepOptions } from './run-step.ts'

/** Options of installing dependencies. `timeout_ms` is for all programs together. */
export interface InstallOptions extends StepOptions {
  /** Receives the warnings for the author of the project; default: `log`. */
  warn?(line: string): void
  project: Pick<ProjectDemands, 'javascript' | 'python'>
  /** Commands of the deployment; default: none. */
  commands?: BuildCommands
  /** The folders in which the build writes; default: that of the project. */
  folders?: BuildFolders
  /** The limit of these folders during the build; default: 4 GiB (P-20). */
  disk?: DiskLimit
}

const GIB = 2 ** 30
/** The limit of the folders of a build (P-20). */
export const BUILD_DISK: DiskLimit = { max_bytes: 4 * GIB, max_files: 500_000, every_ms: 2_000 }

const UNCONFINED = 'This server has no sandbox for builds: the command can read what the server can read.'

/**
 * Installs the dependencies of the project in `dir` into that folder, and runs its build command (P-20). Install
 * scripts of packages are run only in a sandbox.
 * @throws AppError build_failed naming the package manager or the command; the signal's reason on abort
 */
export async function installDependencies(dir: string, options: InstallOptions): Promise<void> {
  const {
    log,
    warn = log,
    confine,
    timeout_ms,
    commands: { install_command, build_command } = NO_COMMANDS,
  } = options
  const ends = performance.now() + timeout_ms
  if (confine === undefined && (install_command ?? build_command) !== null) warn(UNCONFINED)
  const environment = await environmentOf(options)
  const env = environment.length === 0 ? options.env : { ...options.env, ...inEnvironment(dir, options.env) }
  const steps = [
    ...environment,
    ...(install_command === null
      ? await packagesOf(dir, options)
      : [ofShell('install_command', install_command)]),
    ...(build_command === null ? [] : [ofShell('build_command', build_command)]),
  ]
  const { disk = BUILD_DISK, folders = { root: dir, caches: [] } } = options
  const full = new AbortController()
  const signal = AbortSignal.any([options.signal, full.signal])
  const unwatch = await watchDisk(folders, { ...disk, env: options.env }, (fault) =>
    full.abort(buildFailed(tooLarge(fault, disk))),
  )
  try {
    for (const step of steps) {
      const left_ms = Math.max(1, ends - performance.now())
      await runStep(dir, step, { ...options, env, signal, timeout_ms: left_ms, limit_ms: timeout_ms })
    }
  } finally {
    unwatch()
  }
}

function tooLarge(fault: DiskFault, { max_bytes, max_files }: DiskLimit): string {
  if (fault === 'files') return `The build makes more than ${max_files} files.`
  if (fault === 'unreadable') return 'The build makes folders that the server cannot read.'
  return `The build takes more than ${max_bytes / GIB} GiB of disk.`
}

async function environmentOf(options: InstallOptions): Promise<BuildStep[]> {
  const { python } = options.project
  return python === undefined ? [] : [await environmentStep(python, stepsOptions(options))]
}

async function packagesOf(dir: string, options: InstallOptions): Promise<BuildStep[]> {
  const { javascript, python } = options.project
  const ofLanguages = stepsOptions(options)
  return [
    ...(javascript ? await nodeSteps(dir, ofLanguages) : []),
    ...(python === undefined ? [] : await packageSteps(dir, python, ofLanguages)),
  ]
}

function stepsOptions({ env, log, warn = log, confine }: InstallOptions): StepsOptions {
  return { env, log, warn, withScripts: confine !== undefined }
}

function ofShell(name: keyof BuildCommands, text: string): BuildStep {
  return { name, title: `${name}: ${text}`, command: 'sh', args: ['-c', text] }
}
