import { type ChildProcess, spawn, type SpawnOptionsWithoutStdio } from 'node:child_process'

/** Options of a server that tests start below a shell, which ends the server. */
export interface WatchedOptions extends Pick<SpawnOptionsWithoutStdio, 'cwd' | 'uid' | 'gid'> {
  /** The signal that ends the server. It is sent repeatedly, because a process that is just starting ignores it. */
  signal: 'KILL' | 'QUIT'
  stderr: 'ignore' | 'inherit'
}

/**
 * Starts a program that ends when its standard input closes, and so whenever this process ends, for whatever reason.
 */
export function spawnWatched(
  [program, ...args]: [string, ...string[]],
  { signal, stderr, ...options }: WatchedOptions,
): ChildProcess {
  const watchdog = `exec 3<&0
"$@" </dev/null 3<&- & child=$!
(cat <&3 >/dev/null; while kill -${signal} $child 2>/dev/null; do sleep 0.1; done) &
wait $child`
  return spawn('sh', ['-c', watchdog, 'sh', program, ...args], {
    ...options,
    stdio: ['pipe', 'ignore', stderr],
  })
}

/** Ends the program and waits until it has ended. */
export async function endWatched(child: ChildProcess | undefined): Promise<void> {
  if (child === undefined || child.exitCode !== null) return
  const ended = new Promise((done) => child.once('exit', done))
  child.stdin?.end()
  await ended
}
