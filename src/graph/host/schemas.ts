import { isObject, type JsonObject, type JsonValue } from '../../schema/json.ts'
import type { AnyGraph } from './load-graphs.ts'
import type { ImportFor } from '../project/project-module.ts'

interface KnownSchemas {
  input?: JsonObject | undefined
  output?: JsonObject | undefined
  state?: JsonObject | undefined
  config?: JsonObject | undefined
}

/** JSON Schemas in the response of `GET /assistants/{a}/schemas`. */
export interface GraphSchemas {
  input_schema: JsonObject
  output_schema: JsonObject
  state_schema: JsonObject
  config_schema: JsonObject
  context_schema: JsonObject
}

/** Reads schemas from the definition of a graph: `StateSchema`, zod 3 or zod 4. */
export interface SchemaReader {
  /** Returns the schemas; none for a graph that is defined only by TypeScript types. */
  read(graph: AnyGraph): Promise<KnownSchemas>
}

/** `@langchain/langgraph/zod`. */
interface RegistryModule {
  schemaMetaRegistry: { getExtendedChannelSchemas(definition: unknown, options: object): unknown }
}
type ZodModule = Record<'isZodSchemaV3' | 'isZodSchemaV4', (value: unknown) => boolean>
interface JsonSchemaModule {
  toJsonSchema(schema: unknown, options: object): JsonObject
}

/** A zod schema as JSON Schema; undefined for any other value. `options` are those of LangGraph's registry. */
type FromZod = (definition: unknown, options?: object) => JsonObject | undefined

/**
 * Creates a reader with the copy of LangGraph that `file` imports: only the registry of that copy has the graph's
 * `jsonSchemaExtra`.
 */
export function createSchemaReader(importFor: ImportFor, file: string): SchemaReader {
  let loading: Promise<FromZod> | undefined
  return {
    async read(graph) {
      if (!('builder' in graph) || !isObject(graph.builder)) return {}
      loading ??= loadFromZod(importFor, file)
      return readSchemas(definitionsOf(graph.builder), await loading)
    },
  }
}

async function loadFromZod(importFor: ImportFor, file: string): Promise<FromZod> {
  const load = <Module>(name: string): Promise<Module | undefined> =>
    importFor<Module>(file, name).catch(() => undefined)
  const [langgraph, zod, json] = await Promise.all([
    load<RegistryModule>('@langchain/langgraph/zod'),
    load<ZodModule>('@langchain/core/utils/types'),
    load<JsonSchemaModule>('@langchain/core/utils/json_schema'),
  ])
  const registry = langgraph?.schemaMetaRegistry
  return (definition, options = {}) => {
    if (zod === undefined || json === undefined) return undefined
    if (!zod.isZodSchemaV3(definition) && !zod.isZodSchemaV4(definition)) return undefined
    return attempt(() => {
      const described = { ...options, withJsonSchemaExtrasAsDescription: true }
      const schema = registry?.getExtendedChannelSchemas(definition, described) ?? definition
      // Types that JSON Schema cannot express, such as `z.custom()`, become `{}`.
      return takeExtras(json.toJsonSchema(schema, { unrepresentable: 'any' })) as JsonObject
    })
  }
}

/**
 * Prefix of a description in which the registry stores a `jsonSchemaExtra`. Zod passes descriptions on to the JSON
 * Schema.
 */
const EXTRAS = 'lg:'

/** Replaces each description that contains a `jsonSchemaExtra` by the members of that object. */
function takeExtras(value: JsonValue | undefined): JsonValue | undefined {
  if (Array.isArray(value)) return value.map((item) => takeExtras(item) ?? null)
  if (!isObject(value)) return value
  const taken = Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, takeExtras(inner)]))
  const { description, ...rest } = taken
  if (typeof description !== 'string' || !description.startsWith(EXTRAS)) return taken
  return { ...rest, ...(JSON.parse(description.slice(EXTRAS.length)) as JsonObject) }
}

/**
 * The graph's schema definitions at run time. LangGraph keeps them in private fields, which its own server reads too.
 */
function definitionsOf(builder: object): Record<'state' | 'input' | 'output' | 'config', unknown> {
  const fields = builder as Record<string, unknown>
  const state = fields['_schemaRuntimeDefinition']
  const input = fields['_inputRuntimeDefinition']
  return {
    state,
    input: input === PARTIAL_STATE ? state : input,
    output: fields['_outputRuntimeDefinition'],
    config: fields['_configRuntimeSchema'],
  }
}

/** As the definition of an input, this value means: the schema of the state, with all keys optional. */
const PARTIAL_STATE = Symbol.for('langgraph.state.partial')
/** Options for schemas of updates: all keys are optional, and a key with a reducer has the reducer's input type. */
const UPDATE = { withReducerSchema: true, asPartial: true }

function readSchemas(definitions: ReturnType<typeof definitionsOf>, fromZod: FromZod): KnownSchemas {
  const { state, input, output, config } = definitions
  const states = [state, input, output].map(asStateSchema)
  const [stateSchema, inputSchema, outputSchema] = states
  const configured = { config: fromZod(config) }
  if (states.some((schema) => schema !== undefined)) {
    return {
      ...configured,
      state: attempt(() => stateSchema?.getJsonSchema()),
      input: attempt(() => inputSchema?.getInputJsonSchema()),
      output: attempt(() => outputSchema?.getJsonSchema()),
    }
  }
  return {
    ...configured,
    state: fromZod(state, UPDATE),
    input: fromZod(input, UPDATE),
    output: fromZod(output),
  }
}

interface StateSchemaLike {
  getJsonSchema(): JsonObject
  getInputJsonSchema(): JsonObject
}

/** A `StateSchema` of any copy of LangGraph. */
function asStateSchema(value: unknown): StateSchemaLike | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  if (!('getJsonSchema' in value) || !('getInputJsonSchema' in value)) return undefined
  return value as StateSchemaLike
}

/** The result of `make`; undefined if the schema cannot be converted. */
function attempt(make: () => JsonObject | undefined): JsonObject | undefined {
  try {
    return make() ?? undefined
  } catch {
    return undefined
  }
}

/** True if some schemas are missing, and TypeScript types may provide them. */
export function isIncomplete({ state, input, output }: KnownSchemas): boolean {
  return state === undefined || input === undefined || output === undefined
}

/** Parses the output of `type-host`: schemas of an exported graph and its subgraphs, by namespace. */
export function parseTypes(types: string): Record<string, KnownSchemas> {
  const parsed: unknown = JSON.parse(types)
  return isObject(parsed) ? (parsed as Record<string, KnownSchemas>) : {}
}

/**
 * Each schema is from the graph's definition, otherwise from its TypeScript types. If neither has it, the schema
 * contains only the names of the channels; only a channel with a list of messages gets a type.
 */
export function completeSchemas(
  graph: AnyGraph,
  known: KnownSchemas,
  typed: KnownSchemas = {},
): GraphSchemas {
  const { inputChannels, outputChannels, streamChannels } = graph
  const config = known.config ?? typed.config ?? { type: 'object', properties: {} }
  return {
    input_schema: known.input ?? typed.input ?? channelSchema(graph, inputNames(graph, inputChannels)),
    output_schema: known.output ?? typed.output ?? channelSchema(graph, outputChannels),
    state_schema: known.state ?? typed.state ?? channelSchema(graph, streamChannels ?? outputChannels),
    config_schema: config,
    context_schema: config,
  }
}

/**
 * The names of the input channels. A StateGraph receives its input in the channel `__start__`; this name is replaced by
 * the keys of the input.
 */
function inputNames(graph: AnyGraph, names: unknown): unknown {
  if (names !== '__start__' || !('builder' in graph)) return names
  const { _inputDefinition: input } = graph.builder as { _inputDefinition?: object }
  return input === undefined ? names : Object.keys(input)
}

function channelSchema(graph: AnyGraph, names: unknown): JsonObject {
  if (typeof names === 'string') return valueSchema(graph.channels[names as never])
  const keys = Array.isArray(names) ? names.map(String) : []
  const properties = keys.map((key) => [key, valueSchema(graph.channels[key as never])])
  return { type: 'object', properties: Object.fromEntries(properties) }
}

function valueSchema(channel: unknown): JsonObject {
  if (!isMessages(channel)) return {}
  return { type: 'array', langgraph_type: 'messages', items: { type: 'object', title: 'Message' } }
}

function isMessages(channel: unknown): boolean {
  if (typeof channel !== 'object' || channel === null || !('operator' in channel)) return false
  return typeof channel.operator === 'function' && channel.operator.name === 'messagesStateReducer'
}
