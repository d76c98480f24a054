import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { campaign, LONG_MS } from '../../support/campaign.ts'
import { runRollbackRounds } from '../../support/faults/kill/rollback-rounds.ts'
import { runKillRound, VICTIMS } from '../../support/faults/kill/run-kill-rounds.ts'
import { withoutPython } from '../../support/python.ts'
import { PYTHON_RUNS, startRunServer } from '../../support/runs/server.ts'
import { newFolder } from '../../support/folder.ts'

// Python starts slowly, once for each host.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

const WITHOUT = withoutPython()
const ROUNDS = campaign(20, 8)

describe.skipIf(WITHOUT !== '')(`Python hosts${WITHOUT}`, () => {
  it(`kill -9 at work, ${ROUNDS} rounds: every run ends, none is executed twice at a time`, async () => {
    let again = 0
    let latest = 0
    for (let round = 0; round < ROUNDS; round++) {
      const { attempts, takenBackMs } = await runKillRound(
        VICTIMS[round % VICTIMS.length] ?? 'both',
        PYTHON_RUNS,
      )
      again += attempts.filter((attempt) => attempt > 1).length
      latest = Math.max(latest, takenBackMs)
    }
    console.log(`runs taken up again: ${again}; taken back at the latest after ${latest} ms`)
    expect(again).toBeGreaterThan(ROUNDS / 2)
  })

  it('runs that are rolled back at random moments leave nothing behind', async () => {
    const dataDir = await newFolder()
    const file = join(dataDir, 'beats')
    await writeFile(file, '')
    const server = await startRunServer(dataDir, PYTHON_RUNS)
    try {
      const rounds = campaign(5, 2)
      expect(await runRollbackRounds(server, file, { threads: 10, rounds })).toBe(20 * rounds)
    } finally {
      expect(await server.stop()).toBe(0)
    }
  })
})
