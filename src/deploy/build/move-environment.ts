import { lstat, open, readdir, readFile, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'

/**
 * Makes the Python environment of a moved build, if there is one, usable in the new folder. The environment's programs,
 * and its links to packages of the project, contain absolute paths. `from` and `to` are the folders of the whole build.
 */
export async function moveEnvironment(environment: string, from: string, to: string): Promise<void> {
  for (const file of await filesWithPaths(environment)) {
    // A build may have created a link to a file outside of the environment.
    if (!(await lstat(file)).isFile()) continue
    const text = await readFile(file, 'utf8')
    if (text.includes(from)) await writeFile(file, text.replaceAll(from, to))
  }
}

async function filesWithPaths(environment: string): Promise<string[]> {
  const bin = join(environment, 'bin')
  const lib = join(environment, 'lib')
  const config = (await namesIn(environment)).filter((name) => name === 'pyvenv.cfg')
  const found = config.map((name) => join(environment, name))
  for (const name of await namesIn(bin)) if (await isScript(join(bin, name))) found.push(join(bin, name))
  for (const version of await namesIn(lib)) {
    const packages = join(lib, version, 'site-packages')
    const links = (await namesIn(packages)).filter((name) => /\.pth$|^__editable__.*\.py$/.test(name))
    found.push(...links.map((name) => join(packages, name)))
  }
  return found
}

/** Whether a file names its interpreter or is read by a shell; false for links and binary programs. */
async function isScript(file: string): Promise<boolean> {
  const stats = await lstat(file)
  if (!stats.isFile()) return false
  if (basename(file).startsWith('activate')) return true
  const handle = await open(file)
  try {
    const { buffer } = await handle.read(Buffer.alloc(2), 0, 2, 0)
    return buffer.toString() === '#!'
  } finally {
    await handle.close()
  }
}

function namesIn(dir: string): Promise<string[]> {
  return readdir(dir).catch(() => [])
}
