import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { findProgram } from '../isolation/find-program.ts'

/** A Python that can host graphs. */
export interface Python {
  /** Absolute path of the interpreter. */
  file: string
  /** Folder of the installation. */
  prefix: string
  /** Major and minor version, such as 3.12. */
  version: string
}

const OLDEST_MINOR = 11
const NEWEST_MINOR = 14
const NEWEST_FIRST = Array.from(
  { length: NEWEST_MINOR - OLDEST_MINOR + 1 },
  (_, i) => `3.${NEWEST_MINOR - i}`,
)
/** Of a project, which is not trusted: any other text could name a file of its own, and this is not run in a sandbox. */
const VERSION = /^3\.\d{1,2}$/
const PROBE_MS = 10_000
/**
 * Program that prints the path of the Python from which an environment was made. Unlike a Python in an environment,
 * this one can run in the sandbox.
 */
const PROBE =
  'import sys; print(sys._base_executable, sys.base_prefix, "%d.%d" % sys.version_info[:2], sep="\\n")'

/**
 * The Python with which the environment of a project is made: the requested version if it is on the PATH, otherwise
 * `python3`, otherwise the newest version. Undefined if there is none from 3.11 on.
 */
export async function findPython(
  env: Readonly<Record<string, string | undefined>>,
  wanted?: string,
): Promise<Python | undefined> {
  const asked = wanted !== undefined && VERSION.test(wanted) ? [`python${wanted}`] : []
  const names = [...asked, 'python3']
  for (const name of [...names, ...NEWEST_FIRST.map((version) => `python${version}`)]) {
    const file = await findProgram(name, env)
    const found = file && (await probe(file, env))
    if (found) return found
  }
  return undefined
}

async function probe(
  file: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<Python | undefined> {
  try {
    const { stdout } = await promisify(execFile)(file, ['-c', PROBE], { env: { ...env }, timeout: PROBE_MS })
    const [executable, prefix, version] = stdout.split('\n')
    const minor = Number(/^3\.(\d+)$/.exec(version ?? '')?.[1])
    if (!executable || !prefix || version === undefined || !(minor >= OLDEST_MINOR)) return undefined
    return { file: executable, prefix, version }
  } catch {
    return undefined
  }
}
