import { AppError } from '../../base/errors.ts'
import { isObject } from '../../schema/json.ts'
import type { PythonProject } from '../build/python-steps.ts'

/** Settings in langgraph.json that the server does not support and must report (P-21). */
export interface ProjectDemands {
  /** Warnings for the build log. */
  warnings: string[]
  /** `env`, if it is a map. */
  env: Readonly<Record<string, unknown>>
  /** Ids of the graphs, in their order. */
  graphs: string[]
  /** Whether any part of the project is JavaScript or TypeScript. */
  javascript: boolean
  /** The requirements of the project's Python code; undefined if it has none. */
  python: PythonProject | undefined
}

export interface DemandsOptions {
  /** Major version of the Node that runs graphs. */
  node: number
  /** The language of the code at `path:export`. */
  languageOf(spec: string): 'javascript' | 'python'
}

/** Settings that cannot be ignored, because the project would behave differently without them. */
const IMPOSSIBLE = ['encryption', 'priority'] as const
/** What the server stores itself, so that a project cannot bring code for it, by the name of its settings. */
const KEPT_HERE = { checkpointer: 'checkpoints', store: 'the items of the store' } as const
/** Settings of images; no runtime of this version makes images. */
const OF_IMAGES = ['dockerfile_lines', 'base_image'] as const
/** Settings that can be ignored, because the graphs work almost the same without them, and why they are ignored. */
const IGNORED: readonly (readonly [path: string, reason: string])[] = [
  ...['image_distro', 'api_version', 'keep_pkg_tools'].map(
    (name) => [name, 'this server makes no image'] as const,
  ),
  ['pip_installer', 'pip installs packages, and uv those of a uv.lock'],
  ['checkpointer.serde', 'the server stores checkpoints in its own format'],
  ['auth.cache', 'every request calls the handler'],
  ['auth.openapi', 'the documents of the API describe the keys of the server'],
  ['http.middleware_order', 'middleware of the app runs after authentication'],
  ['http.logging_headers', 'the server logs no headers'],
]

/**
 * Reads langgraph.json. @throws AppError build_failed for a file that is no JSON object, has no graphs, or has a
 * setting that the server does not support
 */
export function readProjectDemands(text: string, { node, languageOf }: DemandsOptions): ProjectDemands {
  const file = parse(text)
  const isAsked = (name: string): boolean => !isEmpty(file[name])
  for (const name of IMPOSSIBLE)
    if (isAsked(name)) throw failed(`langgraph.json: "${name}" is not supported here.`)
  for (const [name, what] of Object.entries(KEPT_HERE))
    if (!isEmpty(Object(file[name]).path))
      throw failed(`langgraph.json: "${name}.path" is not supported here: the server keeps ${what}.`)
  for (const name of OF_IMAGES)
    if (isAsked(name))
      throw failed(
        `langgraph.json: "${name}" is not supported here: the runtimes "process" and "container" make no images.`,
      )
  const graphs = isObject(file['graphs']) ? Object.keys(file['graphs']) : []
  if (graphs.length === 0) throw failed('langgraph.json: "graphs" has no graph.')
  const env = isObject(file['env']) ? file['env'] : {}
  const warnings = [...warningsOf(file), ...nodeWarning(file['node_version'], node)]
  return { graphs, env, warnings, ...languagesOf(file, languageOf) }
}

function languagesOf(
  file: Readonly<Record<string, unknown>>,
  languageOf: DemandsOptions['languageOf'],
): Pick<ProjectDemands, 'javascript' | 'python'> {
  const specs = Object.values(Object(file['graphs'])).map((graph) => pathOf(graph) ?? '')
  const others = [file['auth'], Object(file['http'])['app']].flatMap((one) => pathOf(one) ?? [])
  const languages = new Set([...specs, ...others].map(languageOf))
  const javascript = !isEmpty(file['ui']) || languages.has('javascript')
  if (!languages.has('python')) return { javascript: true, python: undefined }
  const { dependencies, python_version, pip_config_file, source } = file
  const python = {
    dependencies: Array.isArray(dependencies) ? dependencies.filter((one) => typeof one === 'string') : [],
    python_version: textOf(python_version),
    pip_config_file: textOf(pip_config_file),
    uses_uv: Object(source).kind === 'uv',
  }
  return { javascript, python }
}

/** A path, or the `path` of an object. */
function pathOf(value: unknown): string | undefined {
  return textOf(isObject(value) ? value['path'] : value)
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

function parse(text: string): Readonly<Record<string, unknown>> {
  try {
    // Editors on Windows put a byte order mark first.
    const file: unknown = JSON.parse(text.replace(/^\uFEFF/, ''))
    if (isObject(file)) return file
  } catch {
    // Text that is not JSON gets the same error as JSON that is not an object.
  }
  throw failed('langgraph.json is not a JSON object.')
}

function warningsOf(file: Readonly<Record<string, unknown>>): string[] {
  return IGNORED.flatMap(([path, reason]) => {
    const value = path.split('.').reduce<unknown>((at, name) => (isObject(at) ? at[name] : undefined), file)
    return isEmpty(value) || value === false ? [] : `langgraph.json: "${path}" is ignored: ${reason}.`
  })
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
