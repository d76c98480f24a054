import { access, constants } from 'node:fs/promises'
import { delimiter, dirname, isAbsolute, join } from 'node:path'

/**
 * The first file of this name on the PATH that can be executed; undefined if there is none. A name with a slash is none,
 * because it would lead out of the folders of the PATH.
 */
export async function findProgram(
  name: string,
  { PATH = '' }: Readonly<Record<string, string | undefined>>,
): Promise<string | undefined> {
  if (/[\\/]/.test(name)) return undefined
  for (const folder of PATH.split(delimiter).filter(isAbsolute)) {
    const path = join(folder, name)
    const isThere = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    )
    if (isThere) return path
  }
  return undefined
}

/** Folders of shims, which start programs of a version manager. */
const SHIMS = /[\\/]shims[\\/]?$/

/** Whether the program is a shim. Builds cannot reach what it starts. */
export function isShim(path: string): boolean {
  return SHIMS.test(dirname(path))
}

/** As `findProgram`, but a shim only if there is no other program of this name. */
export async function findReachable(
  name: string,
  { PATH = '' }: Readonly<Record<string, string | undefined>>,
): Promise<string | undefined> {
  const others = PATH.split(delimiter).filter((folder) => !SHIMS.test(folder))
  return (await findProgram(name, { PATH: others.join(delimiter) })) ?? (await findProgram(name, { PATH }))
}
