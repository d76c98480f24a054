import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, expect, it, vi } from 'vitest'
import { campaign, LONG_MS } from '../../support/campaign.ts'
import { runRollbackRounds } from '../../support/faults/kill/rollback-rounds.ts'
import { type RunServer, startRunServer } from '../../support/runs/server.ts'
import { useFolder } from '../../support/folder.ts'

// Many runs, and values of many megabytes.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

const THREADS = 20
const ROUNDS = campaign(5, 2)

let dataDir: string
let server: RunServer
useFolder(async (made) => {
  dataDir = made
  await writeFile(join(dataDir, 'beats'), '')
  server = await startRunServer(dataDir)
})
afterAll(async () => {
  expect(await server.stop()).toBe(0)
})

const EACH = THREADS * ROUNDS

it(`${EACH} running and ${EACH} pending runs, rolled back at random moments, leave no data`, async () => {
  const size = { threads: THREADS, rounds: ROUNDS }
  const count = await runRollbackRounds(server, join(dataDir, 'beats'), size)
  console.log(`${count} of ${2 * EACH} runs were rolled back`)
  expect(count).toBe(2 * EACH)
})
