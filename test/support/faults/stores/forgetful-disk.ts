import { execFileSync } from 'node:child_process'
import { copyFile, mkdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { preloadEverywhere } from '../preload.ts'

const SOURCE = fileURLToPath(new URL('forgetful-disk.c', import.meta.url))

/** A folder whose content after a power cut can be reconstructed: only synced data counts. */
export interface ForgetfulDisk {
  /** Environment variables for the server that writes to the folder; see `preloadEverywhere`. */
  readonly env: Readonly<Record<string, string>>
  /** Creates the folder `to` with the content that the disk would have after a power cut. */
  restore(to: string): Promise<void>
}

/** The reason why forgetful disks are not available here; undefined if they are. */
export function noForgetfulDisk(): string | undefined {
  if (process.platform !== 'linux') return 'LD_PRELOAD is of Linux'
  try {
    execFileSync('cc', ['--version'], { stdio: 'ignore' })
    return undefined
  } catch {
    return 'there is no C compiler'
  }
}

/** Watches the existing folder `root`. The compiled library and its records are written to `work`. */
export async function openForgetfulDisk(root: string, work: string): Promise<ForgetfulDisk> {
  const library = join(work, 'forgetful-disk.so')
  const notes = join(work, 'notes')
  await mkdir(notes, { recursive: true })
  execFileSync('cc', ['-shared', '-fPIC', '-O1', '-o', library, SOURCE, '-ldl'])

  async function restoreFolder(key: string, to: string): Promise<void> {
    await mkdir(to)
    const names = await readFile(join(notes, `d-${key}`), 'utf8').catch(() => '')
    for (const line of names.split('\n')) {
      const [, kind, of = '', name = ''] = /^([dfl]) (\S+) (.*)$/.exec(line) ?? []
      if (kind === 'd') await restoreFolder(of, join(to, name))
      else if (kind === 'l') await symlink(await readFile(join(notes, `l-${of}`), 'utf8'), join(to, name))
      // The name was synced, but the bytes were not.
      else if (kind === 'f')
        await copyFile(join(notes, `f-${of}`), join(to, name)).catch(() => writeFile(join(to, name), ''))
    }
  }

  const preload = { LD_PRELOAD: library, FORGETFUL_ROOT: root, FORGETFUL_NOTES: notes }
  return {
    env: await preloadEverywhere(preload, work),
    restore: async (to) => restoreFolder(await keyOf(root), to),
  }
}

/** The key of a file in the library's records. */
async function keyOf(path: string): Promise<string> {
  const { ino, birthtimeNs } = await stat(path, { bigint: true })
  return `${ino}-${birthtimeNs / 1_000_000_000n}-${birthtimeNs % 1_000_000_000n}`
}
