import { AppError } from '../../base/errors.ts'
import { isObject, type JsonObject, jsonOf } from '../../schema/json.ts'

/** Initial config and context of a graph's default assistant. */
export interface GraphDefaults {
  config: JsonObject
  context: JsonObject
}

const NAME = 'LANGGRAPH_CONFIG'

/**
 * Reads `LANGGRAPH_CONFIG` of a deployment's `env`, as LangGraph's server does: a JSON map of graph names to
 * `{"configurable": {…}, "context": {…}}`. All members except `context` are config. `file` is the path of
 * langgraph.json, for errors.
 * @throws AppError config_invalid
 */
export function readGraphDefaults(
  env: Readonly<Record<string, string>>,
  file: string,
): (graph_id: string) => GraphDefaults {
  const all = parse(env[NAME], file)
  return (graph_id) => {
    const { context, ...config } = all.get(graph_id) ?? {}
    return { config, context: isObject(context) ? context : {} }
  }
}

function parse(text: string | undefined, file: string): ReadonlyMap<string, JsonObject> {
  if (text === undefined || text === '') return new Map()
  const value = jsonOf(text)
  const entries = isObject(value) ? Object.entries(value) : undefined
  const wrong = entries?.find(([, one]) => !isObject(one) || !hasObjects(one, ['configurable', 'context']))
  if (entries === undefined || wrong !== undefined) {
    const what = wrong === undefined ? 'it' : `"${wrong[0]}"`
    throw new AppError('config_invalid', {
      message: `${file}: ${NAME} in "env" must be a JSON map such as {"agent": {"configurable": {"model": "…"}}}; ${what} is not.`,
    })
  }
  return new Map(entries as [string, JsonObject][])
}

function hasObjects(value: JsonObject, keys: readonly string[]): boolean {
  return keys.every((key) => value[key] === undefined || isObject(value[key]))
}
