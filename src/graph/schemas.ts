import {
  getConfigTypeSchema,
  getInputTypeSchema,
  getOutputTypeSchema,
  getStateTypeSchema,
} from '@langchain/langgraph/zod/schema'
import type { AnyGraph } from './load-graphs.ts'

type JsonSchema = object

/** What `GET /assistants/{a}/schemas` tells of a graph, as JSON Schema. */
export interface GraphSchemas {
  input_schema: JsonSchema
  output_schema: JsonSchema
  state_schema: JsonSchema
  config_schema: JsonSchema
  context_schema: JsonSchema
}

/**
 * A graph's schemas: from its zod schemas where it has them, else from the names of its channels, which say what may be
 * given but not of which type; a list of messages is recognised.
 */
export async function graphSchemas(graph: AnyGraph): Promise<GraphSchemas> {
  const { inputChannels, outputChannels, streamChannels } = graph
  const config = attempt(() => getConfigTypeSchema(graph)) ?? { type: 'object', properties: {} }
  return {
    input_schema:
      attempt(() => getInputTypeSchema(graph)) ?? channelSchema(graph, inputNames(graph, inputChannels)),
    output_schema: attempt(() => getOutputTypeSchema(graph)) ?? channelSchema(graph, outputChannels),
    state_schema:
      attempt(() => getStateTypeSchema(graph)) ?? channelSchema(graph, streamChannels ?? outputChannels),
    config_schema: config,
    context_schema: config,
  }
}

/** A schema that cannot be printed (a transform, a custom type) is as good as none. */
function attempt(make: () => JsonSchema | undefined): JsonSchema | undefined {
  try {
    return make()
  } catch {
    return undefined
  }
}

/** A StateGraph takes its input through `__start__`, which stands for its input's keys. */
function inputNames(graph: AnyGraph, names: unknown): unknown {
  if (names !== '__start__' || !('builder' in graph)) return names
  const { _inputDefinition: input } = graph.builder as { _inputDefinition?: object }
  return input === undefined ? names : Object.keys(input)
}

function channelSchema(graph: AnyGraph, names: unknown): JsonSchema {
  if (typeof names === 'string') return valueSchema(graph.channels[names as never])
  const keys = Array.isArray(names) ? names.map(String) : []
  const properties = keys.map((key) => [key, valueSchema(graph.channels[key as never])])
  return { type: 'object', properties: Object.fromEntries(properties) }
}

function valueSchema(channel: unknown): JsonSchema {
  return isMessages(channel) ? { type: 'array', items: { type: 'object', title: 'Message' } } : {}
}

function isMessages(channel: unknown): boolean {
  if (typeof channel !== 'object' || channel === null || !('operator' in channel)) return false
  return typeof channel.operator === 'function' && channel.operator.name === 'messagesStateReducer'
}
