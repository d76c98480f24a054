import { access, constants } from 'node:fs/promises'
import { delimiter, isAbsolute, join } from 'node:path'

/** The first file of this name on the PATH that can be executed; undefined if there is none. */
export async function findProgram(
  name: string,
  { PATH = '' }: Readonly<Record<string, string | undefined>>,
): Promise<string | undefined> {
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
