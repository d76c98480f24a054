import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { useFolder } from '../../support/folder.ts'
import { createLogger } from '../../../src/base/log.ts'
import { createTypeSchemas, type TypeSchemas } from '../../../src/graph/type-schemas/type-schemas.ts'
import { PATIENCE_MS } from '../../support/eventually.ts'
import { inLong } from '../../support/length.ts'

const PLACE = `export interface Place { city: string; kind: 'home' | 'work' }`
const GRAPH = `
import { Annotation, START, StateGraph } from '@langchain/langgraph'
import type { Place } from './place.ts'

const State = Annotation.Root({
  /** A place to search. */
  place: Annotation<Place>(),
  tags: Annotation<string[]>({ reducer: (left, right) => left.concat(right), default: () => [] }),
})
const Config = Annotation.Root({ model: Annotation<'small' | 'large'>() })
const Inner = Annotation.Root({ ...State.spec, own: Annotation<number>() })
const inner = new StateGraph(Inner).addNode('work', () => ({ own: 1 })).addEdge(START, 'work').compile()

export const agent = async () => new StateGraph(State, Config).addNode('nested', inner).addEdge(START, 'nested')
`

/** A project without installed packages, which uses those of Weir. */
let project: string
let kept: string
let starts = 0
/** One reader for two tests, because a compiler needs seconds to load LangGraph's types. */
let types: TypeSchemas

function reader(timeoutMs?: number): TypeSchemas {
  return createTypeSchemas({
    folder: kept,
    environment: process.env,
    logger: createLogger({ level: 'silent' }),
    async record() {
      starts++
      return async () => undefined
    },
    ...(timeoutMs !== undefined && { timeoutMs }),
  })
}

useFolder(async (made) => {
  project = made
  kept = join(project, 'kept')
  await writeFile(join(project, 'place.ts'), PLACE)
  for (const name of ['agent', 'second']) await writeFile(join(project, `${name}.ts`), GRAPH)
  types = reader(2 * PATIENCE_MS)
})

describe('schemas from TypeScript types', () => {
  const graph = (name: string) => ({ file: join(project, name), export: 'agent' })
  const entry = () => graph('agent.ts')

  it('are read for a graph and its subgraphs, once for the same files', async () => {
    const beside = [entry(), graph('second.ts'), graph('missing.mjs')]
    const [text, again] = await Promise.all([types.read(entry(), beside), types.read(entry(), [])])
    expect(again).toBe(text)
    const read = JSON.parse(text) as Record<string, Record<string, object>>
    expect(Object.keys(read)).toEqual(['agent', 'agent|nested'])
    const place = { description: 'A place to search.' }
    const tags = { type: 'array', items: { type: 'string' } }
    expect(read['agent']).toMatchObject({
      input: { properties: { place, tags } },
      output: { properties: { place, tags } },
      state: { properties: { place, tags } },
      config: { properties: { model: { enum: ['large', 'small'] } } },
    })
    expect(text).toContain('"enum":["home","work"]')
    expect(read['agent|nested']).toMatchObject({ state: { properties: { own: { type: 'number' } } } })
  })

  inLong(() => {
    it('are read for a graph beside it by the same compiler, after the answer', async () => {
      const text = await types.read(entry(), [])
      expect(await types.read(graph('second.ts'), [])).toBe(text)
      expect(starts).toBe(1)
      await types.stop()
    })
  })

  it('are kept for a later start', async () => {
    const later = reader()
    expect(await later.read(entry(), [])).toContain('agent|nested')
    expect(starts).toBe(1)
    await later.stop()
  })

  inLong(() => {
    it('are read again when a source file has changed, with a time limit', async () => {
      await writeFile(join(project, 'place.ts'), PLACE.replace('city', 'town'))
      const before = starts
      const hurried = reader(1)
      expect(await hurried.read(entry(), [])).toBe('null')
      expect(starts).toBe(before + 1)
      // A file that failed is not read again at once.
      expect(await hurried.read(entry(), [])).toBe('null')
      expect(starts).toBe(before + 1)
      await hurried.stop()
    })
  })

  it('are tried again after a failure while nobody waits', async () => {
    const starting: (() => void)[] = []
    const held = Promise.withResolvers<void>()
    let isHeld = false
    const broken = createTypeSchemas({
      folder: join(project, 'none'),
      environment: process.env,
      logger: createLogger({ level: 'silent' }),
      async record() {
        for (const tell of starting.splice(0)) tell()
        return async () => void (isHeld && (await held.promise))
      },
      timeoutMs: 1,
      pauseMs: 0,
    })
    expect(await broken.read(entry(), [])).toBe('null')
    isHeld = true
    const again = new Promise<void>((resolve) => void starting.push(resolve))
    expect(await broken.read(entry(), [])).toBe('null')
    await again
    // A compiler is at work, and no further one waits for it.
    expect(await broken.read(entry(), [])).toBe('null')
    held.resolve()
    await broken.stop()
  })

  it('are empty for JavaScript', async () => {
    const other = reader()
    expect(await other.read(graph('agent.mjs'), [])).toBe('null')
    await other.stop()
  })
})
