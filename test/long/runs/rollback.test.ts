import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { runRollbackRounds } from '../../support/faults/kill/rollback-rounds.ts'
import { type RunServer, startRunServer } from '../../support/runs/server.ts'

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

it('100 running and 100 pending runs, rolled back at random moments, leave no data', async () => {
  const size = { threads: THREADS, rounds: ROUNDS }
  const count = await runRollbackRounds(server, join(dataDir, 'beats'), size)
  console.log(`${count} of ${THREADS * ROUNDS * 2} runs were rolled back`)
  expect(count).toBe(THREADS * ROUNDS * 2)
})
