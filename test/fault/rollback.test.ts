import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Run, Thread } from '../../src/runs/model.ts'
import { type RunServer, startRunServer } from '../support/runs/server.ts'

const THREADS = 20
const ROUNDS = 5

let dataDir: string
let server: RunServer
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'weir-rollback-'))
  await writeFile(join(dataDir, 'beats'), '')
  server = await startRunServer(dataDir)
})
afterAll(async () => {
  expect(await server.stop()).toBe(0)
  await rm(dataDir, { recursive: true })
})

function startRun(thread_id: string, beats: number): Promise<Run> {
  const input = { file: join(dataDir, 'beats'), beats }
  return server.ask<Run>('runs', 'create', thread_id, { assistant_id: 'beats', input })
}

async function allOf(thread_id: string): Promise<string[]> {
  const everything = { limit: 1000, before: null, metadata: null, checkpoint: null }
  return [
    await server.ask<string>('threads', 'state', thread_id, { subgraphs: false }),
    await server.ask<string>('threads', 'history', thread_id, everything),
    JSON.stringify((await server.ask<Thread>('threads', 'get', thread_id)).values_json),
    JSON.stringify(await server.ask<Run[]>('runs', 'list', thread_id, { limit: 100, offset: 0 })),
  ]
}

/** A thread with one finished run; after a rollback it must be byte for byte as at the end of that run. */
async function startThread(): Promise<string> {
  const { thread_id } = await server.ask<Thread>('threads', 'create', {})
  const run = await startRun(thread_id, 0)
  await server.ask('runs', 'join', thread_id, run.run_id)
  return thread_id
}

/** Rolls back a running and a pending run at a random moment; returns how many there were. */
async function rollBackOnce(thread_id: string): Promise<number> {
  const before = await allOf(thread_id)
  const runs = [await startRun(thread_id, 300), await startRun(thread_id, 300)]
  await delay(Math.random() * 200)
  const rollback = { action: 'rollback', wait: true, early: false }
  const order = Math.random() < 0.5 ? runs : runs.toReversed()
  const outcomes = await Promise.all(
    order.map(({ run_id }) =>
      server.ask('runs', 'cancel', thread_id, run_id, rollback).then(
        () => 'rolled back',
        (error: { code: string }) => error.code,
      ),
    ),
  )
  expect(outcomes).toEqual(['rolled back', 'rolled back'])
  for (const { run_id } of runs) {
    await expect(server.ask('runs', 'get', thread_id, run_id)).rejects.toMatchObject({ code: 'not_found' })
  }
  expect(await allOf(thread_id)).toEqual(before)
  return runs.length
}

it('100 running and 100 pending runs, rolled back at random moments, leave no data', async () => {
  const threads = await Promise.all(Array.from({ length: THREADS }, startThread))
  const counts: number[] = []
  await Promise.all(
    threads.map(async (thread_id) => {
      for (let round = 0; round < ROUNDS; round++) counts.push(await rollBackOnce(thread_id))
    }),
  )
  const count = counts.reduce((sum, more) => sum + more, 0)
  console.log(`${count} of ${THREADS * ROUNDS * 2} runs were rolled back`)
  expect(count).toBe(THREADS * ROUNDS * 2)
})
