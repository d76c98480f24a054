import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { campaign, LONG_MS } from '../../support/campaign.ts'
import { runRollbackRounds } from '../../support/faults/kill/rollback-rounds.ts'
import { type RunServer, startRunServer } from '../../support/runs/server.ts'

// Many runs, and values of many megabytes.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

const THREADS = 20
const ROUNDS = campaign(5, 2)

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

const EACH = THREADS * ROUNDS

it(`${EACH} running and ${EACH} pending runs, rolled back at random moments, leave no data`, async () => {
  const size = { threads: THREADS, rounds: ROUNDS }
  const count = await runRollbackRounds(server, join(dataDir, 'beats'), size)
  console.log(`${count} of ${2 * EACH} runs were rolled back`)
  expect(count).toBe(2 * EACH)
})
