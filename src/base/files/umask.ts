import { takeFlag } from '../node/take-flag.ts'

/** Name of the variable in which the launcher passes on, in octal, the umask with which the server was started. */
export const UMASK_VARIABLE = 'WEIR_UMASK'

const FLAG = '--umask='

/** The command line argument with the umask for a child process; none if `env` has no umask. */
export function umaskArguments(env: Readonly<Record<string, string | undefined>>): string[] {
  const mask = env[UMASK_VARIABLE]
  return mask === undefined ? [] : [FLAG + mask]
}

/** Sets the umask of this process from its command line, and removes that argument from `argv`. */
export function takeUmask(argv: string[]): void {
  const mask = takeFlag(argv, FLAG)
  if (mask !== undefined) process.umask(mask)
}
