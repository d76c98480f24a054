import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'

/** Kills the child when `check` has ended; `printed` returns what the child has printed so far. */
export async function whileRunning(
  child: ChildProcess,
  check: (printed: () => string) => Promise<void>,
): Promise<void> {
  const ended = once(child, 'close')
  let text = ''
  for (const output of [child.stdout, child.stderr])
    output?.on('data', (bytes: Buffer) => (text += bytes.toString()))
  try {
    await check(() => text)
  } finally {
    child.kill('SIGKILL')
    await ended
  }
}
