import { AppError } from '../../base/errors.ts'
import { isObject } from '../../schema/json.ts'

/** Settings in langgraph.json that the server does not support and must report (P-21). */
export interface ProjectDemands {
  /** Warnings for the build log. */
  warnings: string[]
  /** `env`, when it is a map. */
  env: Readonly<Record<string, unknown>>
  /** Ids of the graphs, in their order. */
  graphs: string[]
}

/** Settings of which a build without them would behave differently from what was asked. */
const IMPOSSIBLE = ['encryption', 'priority'] as const
/** Settings that only an image can have. */
const OF_IMAGES = ['dockerfile_lines', 'base_image'] as const
/** Settings without which the graphs work the same, or almost. */
const IGNORED = ['image_distro', 'api_version', 'keep_pkg_tools'] as const

/**
 * Reads langgraph.json. @throws AppError build_failed for a file that is no JSON object, has no graphs, or asks what the
 * server cannot do
 */
export function readProjectDemands(text: string, { node }: { node: number }): ProjectDemands {
  const file = parse(text)
  const isAsked = (name: string): boolean => !isEmpty(file[name])
  for (const name of IMPOSSIBLE)
    if (isAsked(name)) throw failed(`langgraph.json: "${name}" is not supported here.`)
  if (isObject(file['checkpointer']) && !isEmpty(file['checkpointer']['path']))
    throw failed('langgraph.json: "checkpointer.path" is not supported here: the server keeps checkpoints.')
  for (const name of OF_IMAGES)
    if (isAsked(name))
      throw failed(`langgraph.json: "${name}" needs the runtime "container", which this server does not use.`)
  const graphs = isObject(file['graphs']) ? Object.keys(file['graphs']) : []
  if (graphs.length === 0) throw failed('langgraph.json: "graphs" has no graph.')
  const env = isObject(file['env']) ? file['env'] : {}
  return { graphs, env, warnings: [...warningsOf(file, isAsked), ...nodeWarning(file['node_version'], node)] }
}

function parse(text: string): Readonly<Record<string, unknown>> {
  try {
    const file: unknown = JSON.parse(text)
    if (isObject(file)) return file
  } catch {
    // The same text as for JSON of another type.
  }
  throw failed('langgraph.json is not a JSON object.')
}

function warningsOf(file: Readonly<Record<string, unknown>>, isAsked: (name: string) => boolean): string[] {
  return IGNORED.filter((name) => isAsked(name) && file[name] !== false).map(
    (name) => `langgraph.json: "${name}" is ignored: this server makes no image.`,
  )
}

function nodeWarning(asked: unknown, node: number): string[] {
  if (typeof asked !== 'string' && typeof asked !== 'number') return []
  const major = Number.parseInt(String(asked), 10)
  return major === node ? [] : [`langgraph.json asks for Node ${asked}; the graphs run on Node ${node}.`]
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === '') return true
  return Array.isArray(value) && value.length === 0
}

function failed(message: string): AppError {
  return new AppError('build_failed', { message })
}
