import { statSync } from 'node:fs'
import { dirname } from 'node:path'

/** The reason to skip tests that read /proc, for their titles; '' on Linux. */
export function withoutLinux(): string {
  return process.platform === 'linux' ? '' : ' (needs /proc of Linux)'
}

function foldersAbove(path: string): string[] {
  const folder = dirname(path)
  return folder === path ? [] : [folder, ...foldersAbove(folder)]
}

function reason(): string | undefined {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'only root can start their processes'
  const closed = foldersAbove(process.execPath).find((folder) => (statSync(folder).mode & 0o001) === 0)
  return closed === undefined ? undefined : `others may not enter ${closed}, where Node is`
}

const found = reason()

/** Whether tests can start this Node as other users. */
export const HAS_OTHER_USERS = found === undefined
/** For titles of tests that need it: why they are skipped; empty if they run. */
export const NO_OTHER_USERS = found === undefined ? '' : ` (skipped: ${found})`
