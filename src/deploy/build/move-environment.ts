import { opendir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { changeBoundedFile } from '../../base/files/bounded-file.ts'

/** Maximum bytes of a file with paths; larger ones are programs. */
const MAX_BYTES = 1 << 20

/**
 * Makes the Python environment of a moved build, if there is one, usable in the new folder. The environment's programs,
 * and its links to packages of the project, contain absolute paths. `from` and `to` are the folders of the whole build,
 * which may have made links and pipes of these files.
 */
export async function moveEnvironment(environment: string, from: string, to: string): Promise<void> {
  const moved = (content: Buffer): string | undefined =>
    content.includes(from) ? content.toString().replaceAll(from, to) : undefined
  // The folders of the environment may be links, too.
  const bounds = { max_bytes: MAX_BYTES, within: dirname(environment) }
  await changeBoundedFile(join(environment, 'pyvenv.cfg'), bounds, moved)
  const [bin, lib] = [join(environment, 'bin'), join(environment, 'lib')]
  for await (const name of namesIn(bin))
    await changeBoundedFile(join(bin, name), bounds, (content) =>
      isScript(name, content) ? moved(content) : undefined,
    )
  for await (const version of namesIn(lib)) {
    const packages = join(lib, version, 'site-packages')
    for await (const name of namesIn(packages))
      if (/\.pth$|^__editable__.*\.py$/.test(name))
        await changeBoundedFile(join(packages, name), bounds, moved)
  }
}

/** Whether a file names its interpreter or is read by a shell; false for binary programs. */
function isScript(name: string, content: Buffer): boolean {
  return name.startsWith('activate') || content.toString('latin1', 0, 2) === '#!'
}

/** The names in a folder, of which a build may have made any number; none if there is no such folder. */
async function* namesIn(dir: string): AsyncGenerator<string> {
  const folder = await opendir(dir).catch(() => undefined)
  if (folder !== undefined) for await (const { name } of folder) yield name
}
