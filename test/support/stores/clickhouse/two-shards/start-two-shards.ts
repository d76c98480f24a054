import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'

/** The address of an engine that was started for a test. */
export interface TwoShards {
  readonly url: string
  readonly username: string
  readonly password: string
  stop(): Promise<void>
}

const PASSWORD = 'two-shards'

/**
 * Starts the embedded engine as a ClickHouse with two shards, both in one process: reads and inserts go through
 * `Distributed` tables, which ClickHouse executes as on two servers, but for the connections. There is no Keeper, thus
 * nothing replicates, and `ON CLUSTER` is left out.
 */
export async function startTwoShards(dir: string): Promise<TwoShards> {
  const [data, cwd] = [join(dir, 'data'), join(dir, 'work')]
  for (const folder of [data, cwd]) await mkdir(folder, { recursive: true })
  const child = fork(new URL('./engine-child.ts', import.meta.url), [data, PASSWORD], {
    cwd,
    execArgv: ['--expose-gc'],
    env: { ...process.env, TZ: 'UTC', UV_THREADPOOL_SIZE: '16' },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const exited = once(child, 'exit')
  const ended = exited.then(() => {
    throw new Error('the engine with two shards ended')
  })
  ended.catch(() => undefined)
  const [port] = (await Promise.race([once(child, 'message'), ended])) as [number]
  return {
    url: `http://127.0.0.1:${port}`,
    username: 'default',
    password: PASSWORD,
    async stop() {
      child.kill('SIGKILL')
      await exited
    },
  }
}
