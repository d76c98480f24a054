import { spawn } from 'node:child_process'
import { rm } from 'node:fs/promises'

/**
 * Removes a folder with everything in it, however many files untrusted code has made, and also if it has made folders
 * that cannot be written; does nothing if the folder does not exist. Programs do the work, because Node's own function
 * blocks the process for 10 s and takes 700 MB for 300,000 files.
 */
export async function removeTree(path: string): Promise<void> {
  const isDone = (await run('rm', ['-rf', '--', path])) === 0
  if (isDone) return
  await run('chmod', ['-R', 'u+rwX', '--', path])
  const end = await run('rm', ['-rf', '--', path])
  if (end === undefined) await rm(path, { recursive: true, force: true })
  else if (end !== 0) throw new Error(`${path} cannot be removed.`)
}

/** The exit code of a program; undefined if it does not exist, as on Windows. */
function run(program: string, args: readonly string[]): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: 'ignore' })
    child.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'ENOENT' ? resolve(undefined) : reject(error),
    )
    child.once('close', (code) => resolve(code ?? 1))
  })
}
