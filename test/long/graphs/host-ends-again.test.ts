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
vi.setConfig({ testTimeout: 180_000 })

let hosts: GraphHosts | undefined
let folder: string
afterEach(async () => {
  await hosts?.stop()
  await rm(folder, { recursive: true })
})

/** Starts the hosts of the project in `folder`. Resolves with what they write to the log. */
async function start(level: 'silent' | 'info'): Promise<string[]> {
  const lines: string[] = []
  const destination = { write: (line: string) => void lines.push(line) }
  const file = await readDeploymentFile(join(folder, 'langgraph.json'), {})
  hosts = createGraphHosts({
    file,
    storage: { file: join(folder, 'runs.db') },
    project: 'p',
    environment: { PATH: process.env['PATH'], NODE_COMPILE_CACHE },
    stallMs: 30_000,
    cancelGraceMs: 5_000,
    logger: createLogger({ level, destination }),
    record: async () => async () => undefined,
  })
  return lines
}

/** Waits until the project was started often enough, and checks the pauses between its starts. */
async function expectPauses(starts: string, pauses: readonly number[]): Promise<void> {
  const times = await eventually(async () => {
    const found = (await readFile(starts, 'utf8')).trim().split('\n').map(Number)
    if (found.length < 2 + pauses.length) throw new Error(`${found.length} starts`)
    return found
  }, 150_000)
  const gaps = times.slice(1).map((time, at) => time - (times[at] ?? 0))
  for (const [at, ms] of pauses.entries()) expect(gaps[at + 1]).toBeGreaterThan(ms)
}

/** Writes a project whose graph notes the time of each load, and then does what `code` says. Resolves with the notes. */
async function writeProject(code: string): Promise<string> {
  folder = await mkdtemp(join(tmpdir(), 'weir-ends-'))
  const starts = join(folder, 'starts')
  await writeFile(join(folder, 'langgraph.json'), JSON.stringify({ graphs: { g: './g.mjs:graph' } }))
  await writeFile(
    join(folder, 'g.mjs'),
    `import { appendFileSync } from 'node:fs'
    appendFileSync(${JSON.stringify(starts)}, Date.now() + '\\n')
    ${code}`,
  )
  return starts
}

/** Messages of the lines that say that something is wrong. */
function faultsOf(lines: readonly string[]): string[] {
  const told = lines.map((line) => JSON.parse(line) as { level: string; msg: string })
  return told.filter(({ level }) => level !== 'info').map(({ msg }) => msg)
}

it('D-64: a host that ends at once after each start is not started without a pause', async () => {
  const starts = await writeProject(
    `import { Annotation, START, StateGraph } from '@langchain/langgraph'
    setTimeout(() => process.exit(1), 50)
    export const graph = new StateGraph(Annotation.Root({})).addNode('n', () => ({})).addEdge(START, 'n').compile()`,
  )
  await start('silent')
  await expectPauses(starts, PAUSES_MS)
})

it('RUN-35: a project that cannot be loaded is tried less and less often, and told once', async () => {
  const starts = await writeProject(`throw new Error('no database')`)
  const lines = await start('info')
  await expectPauses(starts, [2_000, 4_000, 8_000])
  expect(faultsOf(lines)).toEqual(['a graph cannot be loaded'])
})

it('HOST-4: a host that is told to end while it loads a module ends without a word', async () => {
  const starts = await writeProject('await new Promise(() => undefined)')
  const lines = await start('info')
  await eventually(async () => expect(await readFile(starts, 'utf8')).not.toBe(''))
  await hosts?.stop()
  expect(faultsOf(lines)).toEqual([])
})
