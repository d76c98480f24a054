import type { BaseMessage } from '@langchain/core/messages'
import {
  Annotation,
  MessagesValue,
  MessagesZodMeta,
  ReducedValue,
  START,
  StateGraph,
  StateSchema,
} from '@langchain/langgraph'
import { registry, withLangGraph } from '@langchain/langgraph/zod'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { z as z3 } from 'zod/v3'
import type { AnyGraph } from './load-graphs.ts'
import { completeSchemas, createSchemaReader, isIncomplete } from './schemas.ts'

const MESSAGES = { langgraph_type: 'messages' }
const reader = createSchemaReader(async (_file, specifier) => import(specifier), '')

/** The methods of LangGraph's builder that the tests use, for any kind of definition. */
interface Builder {
  addNode(name: string, work: () => object): Builder
  addEdge(from: string, to: string): Builder
  compile(): AnyGraph
}

/** A graph of one node that changes nothing. */
function graphOf(...definition: unknown[]): AnyGraph {
  const Builder = StateGraph as unknown as new (...definition: unknown[]) => Builder
  return new Builder(...definition)
    .addNode('work', () => ({}))
    .addEdge(START, 'work')
    .compile()
}

describe('schemas of a graph', () => {
  it('come from zod 4, with metadata of its registry', async () => {
    const State = z.object({
      messages: z.custom<BaseMessage[]>().register(registry, MessagesZodMeta),
      topic: z.string().describe('About what').default('cats'),
    })
    const known = await reader.read(graphOf(State, z.object({ model: z.enum(['a', 'b']) })))
    const topic = { type: 'string', description: 'About what', default: 'cats' }
    expect(known.state).toMatchObject({ type: 'object', properties: { messages: MESSAGES, topic } })
    expect(known.input).toEqual(known.state)
    expect(known.input).not.toHaveProperty('required')
    expect(known.output).toMatchObject({
      properties: { messages: MESSAGES },
      required: ['messages', 'topic'],
    })
    expect(known.config).toMatchObject({ properties: { model: { enum: ['a', 'b'] } } })
  })

  it('come from zod 3, with metadata of its registry', async () => {
    // LangGraph's types of zod 3 do not compile with exactOptionalPropertyTypes.
    const withMeta = withLangGraph as unknown as (schema: z3.ZodTypeAny, meta: object) => z3.ZodTypeAny
    const reducer = { schema: z3.any(), fn: (left: unknown[], right: unknown) => left.concat(right) }
    const State = z3.object({
      messages: withMeta(z3.array(z3.any()), { reducer, jsonSchemaExtra: MESSAGES }),
      count: z3.number(),
    })
    const input = z3.object({ count: z3.number() })
    const known = await reader.read(graphOf(State, { input }))
    expect(known.state).toMatchObject({ properties: { messages: MESSAGES, count: { type: 'number' } } })
    expect(known.input).toMatchObject({ properties: { count: { type: 'number' } } })
    expect(known.input?.['properties']).not.toHaveProperty('messages')
  })

  it('come from StateSchema: the input has the types that reducers accept', async () => {
    const total = new ReducedValue(z.string().default(''), {
      inputSchema: z.number(),
      reducer: (sum: string, more: number) => sum + more,
    })
    const known = await reader.read(graphOf(new StateSchema({ messages: MessagesValue, total })))
    expect(isIncomplete(known)).toBe(false)
    expect(known.state).toMatchObject({ properties: { messages: MESSAGES, total: { type: 'string' } } })
    expect(known.input).toMatchObject({ properties: { messages: MESSAGES, total: { type: 'number' } } })
  })

  it('are open for types that zod cannot convert, and exact for the others', async () => {
    const State = z.object({ when: z.date(), upper: z.string().transform((text) => text.length) })
    const known = await reader.read(graphOf(State))
    expect(known.state).toMatchObject({ properties: { when: {}, upper: { type: 'string' } } })
  })

  it('come from TypeScript types when there is no schema; without types they list the channels', async () => {
    const graph = graphOf(Annotation.Root({ name: Annotation<string>() }))
    const known = await reader.read(graph)
    expect(isIncomplete(known)).toBe(true)
    const typed = { state: { type: 'object', title: 'typed' }, input: { type: 'object' } }
    expect(completeSchemas(graph, known, typed)).toMatchObject({
      state_schema: { title: 'typed' },
      output_schema: { properties: { name: {} } },
      config_schema: { type: 'object' },
    })
  })
})
