import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it, vi } from 'vitest'
import { createLogger } from '../../../src/base/log.ts'
import { createGraphHosts, type GraphHosts } from '../../../src/graph/pool/pool.ts'
import { readDeploymentFile } from '../../../src/graph/project/deployment-file.ts'
import { NODE_COMPILE_CACHE } from '../../support/compile-cache.ts'
import { eventually } from '../../support/eventually.ts'

/** Each pause between two starts is longer than this. The first one is not waited for. */
const PAUSES_MS = [1_000, 2_000]

// Hosts start again and again, each after a longer pause.
vi.setConfig({ testTimeout: 120_000 })

let hosts: GraphHosts | undefined
let folder: string
afterEach(async () => {
  await hosts?.stop()
  await rm(folder, { recursive: true })
})

it('D-64: a host that ends at once after each start is not started without a pause', async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-ends-'))
  const starts = join(folder, 'starts')
  await writeFile(join(folder, 'langgraph.json'), JSON.stringify({ graphs: { g: './g.mjs:graph' } }))
  await writeFile(
    join(folder, 'g.mjs'),
    `import { appendFileSync } from 'node:fs'
    import { Annotation, START, StateGraph } from '@langchain/langgraph'
    appendFileSync(${JSON.stringify(starts)}, Date.now() + '\\n')
    setTimeout(() => process.exit(1), 50)
    export const graph = new StateGraph(Annotation.Root({})).addNode('n', () => ({})).addEdge(START, 'n').compile()`,
  )
  const file = await readDeploymentFile(join(folder, 'langgraph.json'), {})
  hosts = createGraphHosts({
    file,
    storage: { file: join(folder, 'runs.db') },
    project: 'p',
    environment: { PATH: process.env['PATH'], NODE_COMPILE_CACHE },
    stallMs: 30_000,
    cancelGraceMs: 5_000,
    logger: createLogger({ level: 'silent' }),
    record: async () => async () => undefined,
  })
  const times = await eventually(async () => {
    const found = (await readFile(starts, 'utf8')).trim().split('\n').map(Number)
    if (found.length < 2 + PAUSES_MS.length) throw new Error(`${found.length} starts`)
    return found
  }, 90_000)
  const gaps = times.slice(1).map((time, at) => time - (times[at] ?? 0))
  for (const [at, ms] of PAUSES_MS.entries()) expect(gaps[at + 1]).toBeGreaterThan(ms)
})
