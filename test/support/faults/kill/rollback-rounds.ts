import { setTimeout as delay } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import type { Run, Thread } from '../../../../src/runs/model.ts'
import type { RunServer } from '../../runs/server.ts'

/**
 * Repeatedly rolls back a running and a pending run of each thread, at random moments. Throws if a rollback does not
 * restore a thread byte for byte. Resolves with the number of runs that were rolled back.
 */
export async function runRollbackRounds(
  server: RunServer,
  file: string,
  { threads, rounds }: { threads: number; rounds: number },
): Promise<number> {
  const begun = await Promise.all(Array.from({ length: threads }, () => startThread(server, file)))
  const counts: number[] = []
  await Promise.all(
    begun.map(async (thread_id) => {
      for (let round = 0; round < rounds; round++) counts.push(await rollBackOnce(server, file, thread_id))
    }),
  )
  return counts.reduce((sum, more) => sum + more, 0)
}

function startRun(server: RunServer, file: string, thread_id: string, beats: number): Promise<Run> {
  return server.ask<Run>('runs', 'create', thread_id, { assistant_id: 'beats', input: { file, beats } })
}

async function allOf(server: RunServer, thread_id: string): Promise<string[]> {
  const everything = { limit: 1000, before: null, metadata: null, checkpoint: null }
  return [
    await server.ask<string>('threads', 'state', thread_id, { subgraphs: false }),
    await server.ask<string>('threads', 'history', thread_id, everything),
    JSON.stringify((await server.ask<Thread>('threads', 'get', thread_id)).values_json),
    JSON.stringify(await server.ask<Run[]>('runs', 'list', thread_id, { limit: 100, offset: 0 })),
  ]
}

/** A thread with one finished run. After a rollback, the thread must be as it was at the end of that run. */
async function startThread(server: RunServer, file: string): Promise<string> {
  const { thread_id } = await server.ask<Thread>('threads', 'create', {})
  const run = await startRun(server, file, thread_id, 0)
  await server.ask('runs', 'join', thread_id, run.run_id)
  return thread_id
}

/** Returns the number of runs that were rolled back. */
async function rollBackOnce(server: RunServer, file: string, thread_id: string): Promise<number> {
  const before = await allOf(server, thread_id)
  const runs = [await startRun(server, file, thread_id, 300), await startRun(server, file, thread_id, 300)]
  await delay(Math.random() * 200)
  const rollback = { action: 'rollback', wait: true, early: false }
  const order = Math.random() < 0.5 ? runs : runs.toReversed()
  await Promise.all(order.map(({ run_id }) => server.ask('runs', 'cancel', thread_id, run_id, rollback)))
  for (const { run_id } of runs) {
    const code = await server.ask('runs', 'get', thread_id, run_id).then(
      () => 'found',
      (error: { code: string }) => error.code,
    )
    if (code !== 'not_found') throw new Error(`a run that was rolled back is ${code}`)
  }
  const after = await allOf(server, thread_id)
  if (!isDeepStrictEqual(after, before))
    throw new Error(`the thread has changed: ${JSON.stringify({ before, after })}`)
  return runs.length
}
