import { AppError } from '../../base/errors.ts'
import type { GraphCall } from '../../runs/execute/graph-host.ts'
import { graphJsonText } from './json-text.ts'
import type { AnyGraph } from './load-graphs.ts'
import { completeSchemas, type GraphSchemas, isIncomplete, parseTypes, type SchemaReader } from './schemas.ts'

type Question<Name> = Extract<GraphCall, { name: Name }>

/** The answer to a call that needs the graph's TypeScript types; the server then repeats the call with them. */
export const NEEDS_TYPES = '"needs types"'

/** JSON text of the graph's nodes and edges, for drawing. */
export async function describeGraph(graph: AnyGraph, { config, xray }: Question<'graph'>): Promise<string> {
  const drawable = await graph.getGraphAsync({ ...config, xray })
  return graphJsonText(drawable.toJSON())
}

/** The graph's schemas, or NEEDS_TYPES. */
export async function describeSchemas(
  graph: AnyGraph,
  { graph_id, types }: Question<'schemas'>,
  reader: SchemaReader,
): Promise<string> {
  const known = await reader.read(graph)
  if (isIncomplete(known) && types === null) return NEEDS_TYPES
  const [, typed] = rootOf(parseTypes(types ?? '{}'))
  return JSON.stringify({ graph_id, ...completeSchemas(graph, known, typed) })
}

/**
 * Schemas of the graph's subgraphs by namespace, or NEEDS_TYPES.
 * @throws AppError not_found for a namespace without subgraphs
 */
export async function describeSubgraphs(
  graph: AnyGraph,
  { graph_id, namespace, recurse, types }: Question<'subgraphs'>,
  reader: SchemaReader,
): Promise<string> {
  const found: Record<string, object> = {}
  const typed = parseTypes(types ?? '{}')
  const [root] = rootOf(typed)
  for await (const [name, subgraph] of graph.getSubgraphsAsync(namespace ?? undefined, recurse)) {
    const known = await reader.read(subgraph as AnyGraph)
    if (isIncomplete(known) && types === null) return NEEDS_TYPES
    const schemas = completeSchemas(subgraph as AnyGraph, known, typed[`${root}|${name}`])
    found[name] = { graph_id, ...schemas, ...shortNames(schemas) }
  }
  if (namespace !== null && Object.keys(found).length === 0) {
    throw new AppError('not_found', { message: `No subgraph "${namespace}".` })
  }
  return JSON.stringify(found)
}

/**
 * The schemas of a subgraph under the names of LangGraph's JavaScript server. They are sent in addition to the names of
 * the SDK's types.
 */
function shortNames(schemas: GraphSchemas): object {
  const { state_schema: state, input_schema: input, output_schema: output, config_schema: config } = schemas
  return { state, input, output, config }
}

/** The name and the schemas of the exported graph itself. Its name is the only one without a `|`. */
function rootOf<T>(typed: Record<string, T>): [name: string, schemas: T | undefined] {
  const name = Object.keys(typed).find((key) => !key.includes('|')) ?? ''
  return [name, typed[name]]
}
