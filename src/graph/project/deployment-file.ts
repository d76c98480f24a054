import { dirname, resolve } from 'node:path'
import { AppError } from '../../base/errors.ts'
import { UnsuitableFileError } from '../../base/files/bounded-file.ts'
import { readLanggraphJson } from '../../base/files/langgraph-json.ts'
import { isObject, type JsonObject, text } from '../../schema/json.ts'
import { type GraphDefaults, readGraphDefaults } from '../host/defaults.ts'
import type { HeaderRule } from './configurable-headers.ts'
import { type GraphSpec, readGraphSpec } from './graph-spec.ts'
import { readProjectEnv } from './project-env.ts'
import { embedsInPython, readStoreIndex } from './store-index.ts'

export interface GraphEntry extends GraphDefaults, GraphSpec {
  graph_id: string
  description: string | null
}

/** The content of a deployment's langgraph.json. */
export interface DeploymentFile {
  path: string
  /** The folder of the file. All paths in the file are relative to it. */
  folder: string
  /** Absolute paths of all files that were read: langgraph.json and those of `env` and `auth`. */
  sources: string[]
  graphs: GraphEntry[]
  /** Environment variables of graph hosts, in addition to those that every process needs. */
  env: Record<string, string>
  /** A sentence about the file of `env` that does not exist; null if there is nothing to say. */
  missing_env: string | null
  configurable_headers: HeaderRule
  /** A custom auth handler; null without one. */
  auth: (GraphSpec & { disable_studio_auth: boolean }) | null
  /** A custom HTTP app; null without one. */
  app: GraphSpec | null
  /** Modules with the UI components of graphs, and the packages that the page provides for them; null without any. */
  ui: { components: Record<string, string>; shared: string[] } | null
  store_index: JsonObject | null
  store_ttl: JsonObject | null
  checkpointer_ttl: JsonObject | null
  /** `http` and `webhooks` of the file, unchanged. They are checked by the parts of the server that use them. */
  http: JsonObject
  webhooks: JsonObject
}

/** The default: `x-*` except for keys and tenants, and `user-agent`. */
const DEFAULT_HEADERS: HeaderRule = {
  includes: ['x-*', 'user-agent'],
  excludes: ['x-api-key', 'x-tenant-id', 'x-service-key'],
}

/**
 * Reads a langgraph.json. If its `env` is a list of names, their values are read from `environment`. Nothing else is
 * read from `environment`. If `given` is set, it replaces `env` of the file. @throws AppError config_invalid with the
 * error and its place
 */
export async function readDeploymentFile(
  path: string,
  environment: Readonly<Record<string, string | undefined>>,
  given?: Readonly<Record<string, string>>,
): Promise<DeploymentFile> {
  const file = resolve(path)
  const folder = dirname(file)
  const config = await readJson(file)
  if (isObject(config['encryption']))
    throw invalid(
      `${file}: "encryption" is not supported here: what it encrypts would be stored as it is. Remove it.`,
    )
  const http = object(config['http'])
  const read = given === undefined ? await readProjectEnv(config['env'], file, environment) : undefined
  const env = read?.env ?? { ...given }
  const defaults = readGraphDefaults(env, file)
  const graphs = readGraphs(config['graphs'], file, folder).map((graph) => ({
    ...graph,
    ...defaults(graph.graph_id),
  }))
  const store_index = readIndex(object(config['store'])['index'], file)
  assertEmbeds(store_index, graphs, file)
  return {
    path: file,
    folder,
    sources: [file, ...readSources(config, file)],
    graphs,
    env: { ...env, ...pythonPath(config['dependencies'], folder, env['PYTHONPATH']) },
    missing_env: read?.missing ?? null,
    configurable_headers: readHeaderRule(http['configurable_headers']),
    auth: readAuth(config['auth'], file),
    app: readApp(http['app'], file),
    ui: readUi(config, file),
    store_index,
    store_ttl: objectOrNull(object(config['store'])['ttl']),
    checkpointer_ttl: objectOrNull(object(config['checkpointer'])['ttl']),
    http,
    webhooks: object(config['webhooks']),
  }
}

async function readJson(file: string): Promise<JsonObject> {
  let content: string
  try {
    content = await readLanggraphJson(file)
  } catch (cause) {
    throw invalid(unreadableText(file, cause), cause)
  }
  try {
    // Editors on Windows write a byte order mark at the beginning.
    const value: unknown = JSON.parse(content.replace(/^\uFEFF/, ''))
    if (isObject(value)) return value
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw invalid(`${file} is not valid JSON: ${reason}.${jsonAdvice(file, content)}`, cause)
  }
  throw invalid(`${file} must hold a JSON object.`)
}

/** Advice for a file with an error that other JSON readers accept, such as a comment. */
function jsonAdvice(file: string, content: string): string {
  if (!file.endsWith('.json')) return ' GRAPHS and --graphs name the langgraph.json of a project.'
  if (/^\s*(\/\/|\/\*)/m.test(content)) return ' JSON has no comments: remove them.'
  if (/,\s*[}\]]/.test(content)) return ' JSON has no comma before a closing bracket: remove it.'
  return /[{[,:]\s*'/.test(content) ? ' JSON has double quotes only: replace the single ones.' : ''
}

function unreadableText(file: string, cause: unknown): string {
  if (cause instanceof UnsuitableFileError) return `${file} ${cause.message}.`
  const { code = '' } = cause as NodeJS.ErrnoException
  if (code === 'EISDIR')
    return `${file} is a folder. GRAPHS and --graphs name a file, such as ${resolve(file, 'langgraph.json')}.`
  if (code === 'ENOENT' || code === 'ENOTDIR')
    return `There is no file ${file}. GRAPHS and --graphs name the langgraph.json of a project; GRAPHS= hosts no graphs.`
  return `${file} cannot be read (${code}).`
}

function readGraphs(graphs: unknown, file: string, folder: string): Omit<GraphEntry, keyof GraphDefaults>[] {
  if (!isObject(graphs) || Object.keys(graphs).length === 0) {
    throw invalid(`${file} names no graphs: "graphs" must map names to "file:export".`)
  }
  return Object.entries(graphs).map(([graph_id, value]) => {
    const entry = isObject(value) ? value : { path: value }
    const spec = text(entry['path'])
    if (spec === undefined)
      throw invalid(`${file}: graph "${graph_id}" needs a path such as "./agent.ts:graph".`)
    return { graph_id, ...readGraphSpec(spec, folder), description: text(entry['description']) ?? null }
  })
}

/**
 * Variables for Python: local folders of `dependencies` can be imported from even if they are no packages, as with
 * `langgraph dev`.
 */
function pythonPath(
  dependencies: unknown,
  folder: string,
  given: string | undefined,
): Record<string, string> {
  const local = (strings(dependencies) ?? [])
    .filter((one) => one.startsWith('.'))
    .map((one) => resolve(folder, one))
  const paths = local.filter((path) => path !== folder)
  if (paths.length === 0) return {}
  return { PYTHONPATH: [...paths, ...(given === undefined ? [] : [given])].join(':') }
}

function readHeaderRule(value: unknown): HeaderRule {
  if (!isObject(value)) return DEFAULT_HEADERS
  return {
    includes: strings(value['includes'] ?? value['include']) ?? DEFAULT_HEADERS.includes,
    excludes: [...(strings(value['excludes'] ?? value['exclude']) ?? []), ...DEFAULT_HEADERS.excludes],
  }
}

/** @throws AppError config_invalid for an auth handler without a path, because ignoring it would let everyone in */
function readAuth(value: unknown, file: string): DeploymentFile['auth'] {
  if (value === undefined || value === null) return null
  if (!isObject(value)) throw invalid(`${file}: "auth" must be a map with "path", such as "./auth.py:auth".`)
  const { path, disable_studio_auth } = value
  if (path === undefined || path === null) return null
  const spec = text(path)
  if (spec === undefined) throw invalid(`${file}: "auth.path" must be a path such as "./auth.py:auth".`)
  return { ...readGraphSpec(spec, dirname(file)), disable_studio_auth: disable_studio_auth === true }
}

/** @throws AppError config_invalid */
function readApp(value: unknown, file: string): DeploymentFile['app'] {
  if (value === undefined || value === null) return null
  const spec = text(value)
  if (spec === undefined) throw invalid(`${file}: "http.app" must be a path such as "./app.py:app".`)
  return readGraphSpec(spec, dirname(file))
}

function readUi({ ui, ui_config }: JsonObject, file: string): DeploymentFile['ui'] {
  if (ui === undefined || ui === null) return null
  if (!isObject(ui) || !Object.values(ui).every((path) => typeof path === 'string')) {
    throw invalid(`${file}: "ui" must map names of graphs to paths such as "./src/ui.tsx".`)
  }
  return { components: ui as Record<string, string>, shared: strings(object(ui_config)['shared']) ?? [] }
}

function readSources({ env, auth }: JsonObject, file: string): string[] {
  const authFile = readAuth(auth, file)?.file
  return [
    ...(typeof env === 'string' ? [resolve(dirname(file), env)] : []),
    ...(authFile === undefined ? [] : [authFile]),
  ]
}

/**
 * Converts `embed` to an absolute `file:export` if it is a path. Names of models, such as `openai:…`, stay. @throws
 * AppError config_invalid if it is neither, because a search would ignore it
 */
function readIndex(value: unknown, file: string): JsonObject | null {
  if (value === undefined || value === null) return null
  const embed = isObject(value) ? text(value['embed']) : undefined
  const read = readStoreIndex({ embed: embed ?? null })
  if (!isObject(value) || read === undefined)
    throw invalid(
      `${file}: "store.index.embed" must be a function of your own, such as "./embed.py:embed" or "./embed.ts:embed", or the name of a model, such as "openai:text-embedding-3-small".`,
    )
  if ('model' in read.embed) return value
  return { ...value, embed: `${resolve(dirname(file), read.embed.file)}:${read.embed.name}` }
}

/** @throws AppError config_invalid if `store.index` needs graphs of a language in which the project has none */
function assertEmbeds(index: JsonObject | null, graphs: readonly GraphEntry[], file: string): void {
  const read = readStoreIndex(index)
  if (read === undefined) return
  const wanted = embedsInPython(read) ? 'python' : 'javascript'
  if (graphs.some(({ language }) => language === wanted)) return
  const [whose, example] =
    wanted === 'python' ? ['Python', './embed.ts:embed'] : ['JavaScript or TypeScript', './embed.py:embed']
  throw invalid(
    `${file}: "store.index.embed" is "${text(index?.['embed'])}", which only a project with ${whose} graphs can use. Name a function of texts of your own, such as "${example}", or remove "store.index".`,
  )
}

function strings(value: unknown): string[] | undefined {
  return Array.isArray(value) ? value.map(String) : undefined
}

function object(value: unknown): JsonObject {
  return isObject(value) ? value : {}
}

function objectOrNull(value: unknown): JsonObject | null {
  return isObject(value) ? value : null
}

function invalid(message: string, cause?: unknown): AppError {
  return new AppError('config_invalid', { message, cause })
}
