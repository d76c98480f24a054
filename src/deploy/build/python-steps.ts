import { existsSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { findReachable, isShim } from '../isolation/find-program.ts'
import { findPython } from './find-python.ts'
import type { StepsOptions } from './node-steps.ts'
import { buildFailed, type BuildStep } from './run-step.ts'

/** Settings of langgraph.json for a project with Python graphs. */
export interface PythonProject {
  /** Packages, and folders of the project, which begin with a dot. */
  dependencies: readonly string[]
  /** The requested version, such as 3.12. */
  python_version: string | undefined
  pip_config_file: string | undefined
  uses_uv: boolean
}

const NO_PYTHON =
  'The project has Python graphs, and Python 3.11 or newer is not installed on this server, or not on its PATH.'
/** To a folder that is on the PATH of a server that runs. pip may refuse to install, or install a shim. */
const INSTALL_UV = 'curl -LsSf https://astral.sh/uv/install.sh | env UV_INSTALL_DIR=/usr/local/bin sh'
const NO_UV = `The project has a uv.lock or asks for uv, and uv is not installed on this server. Install it there, as root: ${INSTALL_UV}. Or remove uv.lock from what is deployed (a line in .dockerignore), so that pip installs the newest versions that the project allows.`
const WARNING =
  'Only packages that are built already are installed, since this server has no sandbox for builds; packages that compile something do not work.'

/** The environment of the project, in which its graphs are run. */
export const ENVIRONMENT = '.venv'

/**
 * The step that creates the environment of a Python project, with the requested version of Python if available. @throws
 * AppError build_failed if there is no Python
 */
export async function environmentStep(
  { python_version: asked }: PythonProject,
  { env, warn }: StepsOptions,
): Promise<BuildStep> {
  const python = await findPython(env, asked)
  if (python === undefined) throw buildFailed(NO_PYTHON)
  const { file, version } = python
  if (asked !== undefined && asked !== version)
    warn(`langgraph.json asks for Python ${asked}; the graphs run on Python ${version}.`)
  return {
    name: 'python -m venv',
    title: `python -m venv ${ENVIRONMENT} (Python ${version})`,
    command: file,
    args: ['-m', 'venv', '--clear', ENVIRONMENT],
  }
}

/** The variables with which commands use the environment of the project in `dir`. */
export function inEnvironment(
  dir: string,
  { PATH = '' }: Readonly<Record<string, string>>,
): Record<string, string> {
  const environment = join(dir, ENVIRONMENT)
  return { VIRTUAL_ENV: environment, PATH: `${join(environment, 'bin')}:${PATH}` }
}

/** Why builds cannot use uv; null if they can. */
export async function uvFault(env: Readonly<Record<string, string | undefined>>): Promise<string | null> {
  const uv = await findReachable('uv', env)
  if (uv === undefined) return NO_UV
  if (!isShim(uv)) return null
  return `${uv} only starts the uv of a version manager, which builds cannot reach. Install uv itself on this server, as root: ${INSTALL_UV}`
}

/**
 * The steps that install the packages of a Python project into its environment: with uv if it has a uv.lock, otherwise
 * with pip (P-20); empty if there is nothing to install. @throws AppError build_failed if uv is missing
 */
export async function packageSteps(
  dir: string,
  project: PythonProject,
  { env, withScripts, warn }: StepsOptions,
): Promise<BuildStep[]> {
  if (!withScripts) warn(WARNING)
  if (project.uses_uv || existsSync(join(dir, 'uv.lock'))) {
    const fault = await uvFault(env)
    if (fault !== null) throw buildFailed(fault)
    const args = [
      'sync',
      '--frozen',
      '--no-dev',
      ...(withScripts ? [] : ['--no-build', '--no-install-project']),
    ]
    // uv uses the Python of the environment, because a Python that uv downloads would not be visible in the sandbox.
    const only = { UV_PROJECT_ENVIRONMENT: ENVIRONMENT, UV_PYTHON_DOWNLOADS: 'never', UV_LINK_MODE: 'copy' }
    // A shim may be on the PATH before the uv that builds can reach.
    const reachable = dirname((await findReachable('uv', env)) ?? '')
    const { PATH } = inEnvironment(dir, { PATH: [reachable, env['PATH']].join(delimiter) })
    return [
      {
        name: 'uv sync',
        title: `uv ${args.join(' ')}`,
        command: 'uv',
        args,
        env: { ...only, PATH: PATH ?? '' },
      },
    ]
  }
  const wanted = project.dependencies.flatMap((dependency) => pipArguments(dir, dependency))
  if (wanted.length === 0) {
    warn('"dependencies" of langgraph.json names nothing to install.')
    return []
  }
  const title = `pip install ${wanted.join(' ')}`
  const args = ['-m', 'pip', 'install', ...(withScripts ? [] : ['--only-binary', ':all:']), ...wanted]
  const { pip_config_file: config } = project
  const python = join(dir, ENVIRONMENT, 'bin', 'python')
  const configured = config === undefined ? {} : { PIP_CONFIG_FILE: join(dir, config) }
  return [{ name: 'pip install', title, command: python, args, env: configured }]
}

/**
 * Arguments of pip for a dependency. A folder with a package definition is installed as an editable package; for a
 * folder with a list of requirements, the list is installed. Any other folder is only importable.
 */
function pipArguments(dir: string, dependency: string): string[] {
  if (!dependency.startsWith('.')) return [dependency]
  const has = (name: string): boolean => existsSync(join(dir, dependency, name))
  if (has('pyproject.toml') || has('setup.py')) return ['--editable', dependency]
  return has('requirements.txt') ? ['--requirement', join(dependency, 'requirements.txt')] : []
}
