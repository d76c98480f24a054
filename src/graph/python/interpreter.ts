import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { HostCommand } from '../pool/process.ts'

/** The part of a Python project that one process serves: its graphs, its auth handlers, or its HTTP app. */
type PythonRole = 'graphs' | 'user-auth' | 'http-app'

/** Path of the Python program for all roles. It needs no build, and no packages other than those of the project. */
export const MAIN: string = fileURLToPath(new URL('../../../hosts/python/main.py', import.meta.url))

const MISSING =
  'The project has Python code, and python3 is not on the PATH. Install Python 3.11 or newer, and the packages of the project in an environment of its own (`uv sync`, or `python3 -m venv .venv && .venv/bin/pip install -e .`).'

/**
 * The command of a host with the project's own interpreter (P-28). The interpreter is the first of these that exists:
 * `.venv` in the project's folder or the nearest folder above it, as uv searches it; VIRTUAL_ENV; python3.
 */
export function pythonCommand(
  role: PythonRole,
  folder: string,
  { VIRTUAL_ENV }: Readonly<Record<string, string | undefined>>,
): HostCommand {
  const file = environmentAbove(folder) ?? (VIRTUAL_ENV && interpreterIn(VIRTUAL_ENV)) ?? 'python3'
  return { file, args: ['-u', MAIN, role], missing: MISSING }
}

function environmentAbove(folder: string): string | undefined {
  const found = interpreterIn(join(folder, '.venv'))
  const parent = dirname(folder)
  return found ?? (parent === folder ? undefined : environmentAbove(parent))
}

function interpreterIn(environment: string): string | undefined {
  const file = join(environment, 'bin', 'python')
  return existsSync(file) ? file : undefined
}
