import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { temporaryDir } from '../../support/stores/clickhouse/embedded-clickhouse.ts'
import type { Fault, FaultScope } from '../../support/faults/proxies/fault.ts'
import { startLoad } from '../../support/servers/load.ts'
import { type ProxiedStore, startProxiedStore } from '../../support/faults/stores/proxied-store.ts'
import { sample, storedFaults, traceFaults } from '../../support/traces/stored-traces.ts'
import { startWeir, type WeirProcess } from '../../support/servers/weir-process.ts'
import { LONG_MS } from '../../support/campaign.ts'

// A store gets up to a million rows, or is away for a while.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

const FRAGMENTS = /^INSERT INTO fragments\b/
const ROWS = /^INSERT INTO runs\b/
const READ_BACK = /^SELECT[\s\S]*\bFROM fragments\b/

/** A title, the fault, and the statements that it affects. */
type StoreFault = readonly [title: string, fault: Fault, scope: Required<FaultScope>]

const reset: Fault = { kind: 'reset_request', afterBytes: 2000 }
const lost: Fault = { kind: 'swallow_answer' }
const tooManyParts: Fault = { kind: 'error', code: 252, type: 'TOO_MANY_PARTS' }
const unlisted: Fault = { kind: 'error', code: 516, type: 'AUTHENTICATION_FAILED' }

const FAULTS: readonly StoreFault[] = [
  // After these two faults the writer repeats the insert, which could store rows twice.
  ['fragments are stored and the response is lost', lost, { query: FRAGMENTS, times: 3 }],
  ['rows are stored and the response is lost', lost, { query: ROWS, times: 3 }],
  ['an insert hangs until its timeout', { kind: 'hang' }, { query: FRAGMENTS, times: 1 }],
  ['the connection closes during an insert of rows', reset, { query: ROWS, times: 3 }],
  ['a read-back is refused with an unknown code', unlisted, { query: READ_BACK, times: 4 }],
  ['the connection closes during an insert of fragments', reset, { query: FRAGMENTS, times: 3 }],
  ['the response of a read-back is lost', lost, { query: READ_BACK, times: 3 }],
  ['there are too many parts', tooManyParts, { query: /^INSERT/, times: 4 }],
  ['an insert is refused with an unknown code', unlisted, { query: ROWS, times: 3 }],
  ['everything is slow', { kind: 'slow', latencyMs: 150 }, { query: /./, times: 12 }],
]

describe('faults of the store', () => {
  let store: ProxiedStore
  let weir: WeirProcess
  let dir: Awaited<ReturnType<typeof temporaryDir>>
  beforeAll(async () => {
    store = await startProxiedStore()
    dir = await temporaryDir()
    weir = await startWeir(dir.dir, { CLICKHOUSE_URL: store.newUrl() })
  })
  afterAll(async () => {
    await weir.kill()
    await store.close()
    await dir.remove()
  })

  it.each(FAULTS)('nothing is lost or doubled when %s', async (session_name, fault, scope) => {
    const load = startLoad({ url: weir.url, session_name, concurrency: 2, pauseMs: 150 })
    await load.reached(5)
    await store.proxy.set(fault, scope)
    await store.proxy.faulted(scope.times)
    if (fault.kind === 'hang') await store.proxy.set({ kind: 'pass' })
    await load.reached(load.traces.length + 5)
    await load.stop()
    expect(load.refusals).toEqual([])
    await weir.drained()
    expect(await storedFaults(weir, session_name, load.traces)).toEqual([])
    expect(await traceFaults(weir, sample(load.traces, 8))).toEqual([])
  })
})
