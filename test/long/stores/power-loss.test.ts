import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import {
  comparePositions,
  type LogPosition,
  loadPosition,
  segmentStart,
} from '../../../src/ingest/log/position.ts'
import { noForgetfulDisk, openForgetfulDisk } from '../../support/faults/stores/forgetful-disk.ts'
import { describePowerLoss } from '../../support/faults/stores/power-loss.ts'
import { type SentTrace, startLoad } from '../../support/servers/load.ts'
import { startWeir } from '../../support/servers/weir-process.ts'
import { temporaryDir } from '../../support/stores/clickhouse/embedded-clickhouse.ts'
import { storedFaults } from '../../support/traces/stored-traces.ts'
import { LONG_MS } from '../../support/campaign.ts'

// A store gets up to a million rows, or is away for a while.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

describePowerLoss(['full', 'normal'])

const reason = noForgetfulDisk()

describe.skipIf(reason !== undefined)(`a loss of power${reason === undefined ? '' : ` (${reason})`}`, () => {
  it('keeps in the embedded ClickHouse what is not read again from the ingest log', async () => {
    const { dir, remove } = await temporaryDir()
    onTestFinished(remove)
    const [before, after] = [join(dir, 'before'), join(dir, 'after')]
    await mkdir(before)
    const disk = await openForgetfulDisk(before, dir)
    const traces: SentTrace[] = []
    let stored = segmentStart(0)
    // Two processes, one after the other. When the second appends to the log, the position up to which the first has
    // stored it is on disk.
    for (const first of [0, 1_000]) {
      const weir = await startWeir(before, { RUN_TRACING: 'off', ...disk.env })
      const load = startLoad({ url: weir.url, session_name: 'power', first })
      await load.reached(40)
      await load.stop()
      traces.push(...load.traces)
      if (first === 0) {
        await weir.drained()
        stored = await positionOf(before)
      }
      await weir.kill()
    }
    await disk.restore(after)
    expect(comparePositions(await positionOf(after), stored)).toBeGreaterThanOrEqual(0)
    const next = await startWeir(after, { RUN_TRACING: 'off' })
    onTestFinished(() => next.kill())
    await next.drained()
    expect(await storedFaults(next, 'power', traces)).toEqual([])
  })
})

async function positionOf(dataDir: string): Promise<LogPosition> {
  const position = await loadPosition(join(dataDir, 'ingest-log'))
  if (typeof position === 'string') throw new Error(`the position is ${position}`)
  return position
}
