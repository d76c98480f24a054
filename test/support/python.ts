import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ENVIRONMENT = fileURLToPath(new URL('../../.venv', import.meta.url))
const WANTED = new URL('../python/requirements.txt', import.meta.url)

/** The interpreter of the virtual environment that `test/python/install` creates. */
export const PYTHON = join(ENVIRONMENT, 'bin', 'python')

/**
 * The reason to skip tests of Python clients, for their titles; '' when they can run. In CI it is '', so that tests
 * without the environment fail, unless `.ci/run` has reported that there is no Python.
 */
export function withoutPython(): string {
  const { CI, WITHOUT_PYTHON } = process.env
  if (CI === '1' && WITHOUT_PYTHON !== '1') return ''
  const installed = join(ENVIRONMENT, 'requirements.txt')
  const fits = existsSync(installed) && readFileSync(installed, 'utf8') === readFileSync(WANTED, 'utf8')
  return fits ? '' : ' (test/python/install has not been run)'
}

/** `name version` of each package as pinned in requirements.txt. */
export function pinned(...names: string[]): string {
  const lines = readFileSync(WANTED, 'utf8').split('\n')
  const versions = new Map(lines.map((line) => line.split('==') as [string, string]))
  return names.map((name) => `${name} ${versions.get(name)}`).join(', ')
}
