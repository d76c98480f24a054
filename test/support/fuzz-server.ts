import { afterAll, beforeAll, expect, it } from 'vitest'
import { temporaryDir } from './embedded-clickhouse.ts'
import { fuzzListener } from './fuzz-openapi.ts'
import { startWeir, type WeirProcess } from './weir-process.ts'

/** How much is sent to each listener, and what is asked of the server after it. */
export interface FuzzOptions {
  requests: number
  seed: number
  /** False for so few requests that operations need not have succeeded and failed. */
  isExhaustive: boolean
}

const NAME = 'fuzzed'
/** The server may keep caches, pools and what the requests have made; a leak of 100,000 requests is larger. */
const GROWTH = { times: 2, bytes: 300 << 20 }
const WARM_UP = 1_000
/** Operations that fail only without a key, or that only odd requests let succeed. */
const MAX_ONE_SIDED = 16

/** Registers the tests of a file that fuzzes both listeners of a server of its own. */
export function fuzzBothListeners({ requests, seed, isExhaustive }: FuzzOptions): void {
  let weir: WeirProcess
  let dir: Awaited<ReturnType<typeof temporaryDir>>
  beforeAll(async () => {
    dir = await temporaryDir()
    weir = await startWeir(dir.dir, { GRAPHS: 'examples/graphs/langgraph.json', DEPLOYMENT_NAME: NAME })
  })
  afterAll(async () => {
    expect(await weir.stop()).toBe(0)
    await dir.remove()
  })

  it.each([
    ['the platform API', ''],
    ['the deployment API', `/deployments/${NAME}`],
  ])(
    `%s answers as documented, never with 500, never after a second (seed ${seed})`,
    async (_title, prefix) => {
      const campaign = { weir, prefix, names: { assistant_id: 'agent', graph_id: 'agent' } }
      if (isExhaustive) await fuzzListener({ ...campaign, requests: WARM_UP, seed: seed + 1 })
      const before = await residentBytes(weir)
      const { faults, slow, oneSided, statuses } = await fuzzListener({ ...campaign, requests, seed })
      console.log(
        `${prefix || '/'}: ${JSON.stringify(statuses)}, ${before >> 20} MiB before, ${(await residentBytes(weir)) >> 20} after`,
      )
      expect(faults).toEqual([])
      expect(slow).toEqual([])
      expect(weir.isAlive()).toBe(true)
      expect(weir.log.filter(({ level, msg }) => level === 'fatal' || msg === 'request failed')).toEqual([])
      if (!isExhaustive) return
      expect(oneSided.length, oneSided.join('\n')).toBeLessThanOrEqual(MAX_ONE_SIDED)
      expect(await residentBytes(weir)).toBeLessThan(before * GROWTH.times + GROWTH.bytes)
    },
  )
}

async function residentBytes(weir: WeirProcess): Promise<number> {
  const text = await (await weir.fetch('/metrics')).text()
  return Number(/^process_resident_memory_bytes (\S+)$/m.exec(text)?.[1])
}
