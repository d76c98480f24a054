import { dirname, resolve } from 'node:path'
import { parseEnv } from 'node:util'
import { AppError } from '../../base/errors.ts'
import { readBoundedFile, UnsuitableFileError } from '../../base/files/bounded-file.ts'
import { MAX_CONFIG_BYTES, readLanggraphJson } from '../../base/files/langgraph-json.ts'
import { isReservedKey } from '../../schema/config-keys.ts'
import { isObject, type JsonObject, text } from '../../schema/json.ts'
import { type GraphDefaults, readGraphDefaults } from '../host/defaults.ts'
import { type GraphSpec, readGraphSpec, splitSpec } from './graph-spec.ts'

/** An entry of `graphs` in langgraph.json. */
export interface GraphEntry extends GraphDefaults, GraphSpec {
  graph_id: string
  description: string | null
}

/** Request headers that graphs may read, as patterns with `*`. */
export interface HeaderRule {
  includes: string[]
  excludes: string[]
}

/** The content of a deployment's langgraph.json. */
export interface DeploymentFile {
  /** Absolute path of the file. */
  path: string
  /** The folder of the file. All paths in the file are relative to it. */
  folder: string
  /** Absolute paths of all files that were read: langgraph.json and those of `env` and `auth`. */
  sources: string[]
  graphs: GraphEntry[]
  /** Environment variables of graph hosts, in addition to those that every process needs. */
  env: Record<string, string>
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
  const http = object(config['http'])
  const env = given !== undefined ? { ...given } : await readEnv(config['env'], file, folder, environment)
  const defaults = readGraphDefaults(env, file)
  return {
    path: file,
    folder,
    sources: [file, ...readSources(config, folder)],
    graphs: readGraphs(config['graphs'], file, folder).map((graph) => ({
      ...graph,
      ...defaults(graph.graph_id),
    })),
    env,
    configurable_headers: readHeaderRule(http['configurable_headers']),
    auth: readAuth(config['auth'], folder),
    app: readApp(http['app'], folder),
    ui: readUi(config, file),
    store_index: readIndex(object(config['store'])['index'], folder),
    store_ttl: objectOrNull(object(config['store'])['ttl']),
    checkpointer_ttl: objectOrNull(object(config['checkpointer'])['ttl']),
    http,
    webhooks: object(config['webhooks']),
  }
}

/** The headers of a request that graphs may read, by lower-case name. */
export function pickConfigurableHeaders(
  rule: HeaderRule,
  headers: Readonly<Record<string, string | string[] | undefined>>,
): Record<string, string> {
  const picked: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers)) {
    const lower = name.toLowerCase()
    if (typeof value !== 'string' || isReservedKey(lower)) continue
    if (!matchesAny(rule.includes, lower) || matchesAny(rule.excludes, lower)) continue
    picked[lower] = value
  }
  return picked
}

function matchesAny(patterns: readonly string[], name: string): boolean {
  return patterns.some((pattern) => {
    const parts = pattern.toLowerCase().split('*')
    const first = parts[0] ?? ''
    const last = parts.at(-1) ?? ''
    if (parts.length === 1) return name === first
    if (!name.startsWith(first) || !name.endsWith(last) || name.length < first.length + last.length)
      return false
    let at = first.length
    return parts.slice(1, -1).every((part) => {
      const found = name.indexOf(part, at)
      at = found + part.length
      return found >= 0 && at <= name.length - last.length
    })
  })
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

/** Splits `file:export`. Without an export in the text, the export is `default`. */
function fileAndExport(spec: string, folder: string): { file: string; export: string } {
  const { path, export: name = 'default' } = splitSpec(spec)
  return { file: resolve(folder, path), export: name }
}

async function readEnv(
  env: unknown,
  file: string,
  folder: string,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<Record<string, string>> {
  if (env === undefined || env === null) return {}
  if (typeof env === 'string') {
    const path = resolve(folder, env)
    try {
      return Object.fromEntries(
        Object.entries(parseEnv(String(await readBoundedFile(path, { max_bytes: MAX_CONFIG_BYTES })))).map(
          ([name, value]) => [name, value ?? ''],
        ),
      )
    } catch (cause) {
      const reason = cause instanceof UnsuitableFileError ? `: it ${cause.message}` : ''
      throw invalid(`${path}, which ${file} names under "env", cannot be read${reason}.`, cause)
    }
  }
  if (Array.isArray(env)) {
    const missing = env.filter((name) => environment[String(name)] === undefined)
    if (missing.length > 0)
      throw invalid(`${file}: the environment lacks ${missing.join(', ')}, named under "env".`)
    return Object.fromEntries(env.map((name) => [String(name), environment[String(name)] ?? '']))
  }
  if (isObject(env))
    return Object.fromEntries(Object.entries(env).map(([name, value]) => [name, String(value)]))
  throw invalid(`${file}: "env" must be a path, a list of names, or a map.`)
}

function readHeaderRule(value: unknown): HeaderRule {
  if (!isObject(value)) return DEFAULT_HEADERS
  return {
    includes: strings(value['includes'] ?? value['include']) ?? DEFAULT_HEADERS.includes,
    excludes: [...(strings(value['excludes'] ?? value['exclude']) ?? []), ...DEFAULT_HEADERS.excludes],
  }
}

function readAuth(value: unknown, folder: string): DeploymentFile['auth'] {
  const spec = isObject(value) ? text(value['path']) : undefined
  if (!isObject(value) || spec === undefined) return null
  return { ...readGraphSpec(spec, folder), disable_studio_auth: value['disable_studio_auth'] === true }
}

function readApp(value: unknown, folder: string): DeploymentFile['app'] {
  const spec = text(value)
  return spec === undefined ? null : readGraphSpec(spec, folder)
}

function readUi({ ui, ui_config }: JsonObject, file: string): DeploymentFile['ui'] {
  if (ui === undefined || ui === null) return null
  if (!isObject(ui) || !Object.values(ui).every((path) => typeof path === 'string')) {
    throw invalid(`${file}: "ui" must map names of graphs to paths such as "./src/ui.tsx".`)
  }
  return { components: ui as Record<string, string>, shared: strings(object(ui_config)['shared']) ?? [] }
}

function readSources({ env, auth }: JsonObject, folder: string): string[] {
  const authFile = readAuth(auth, folder)?.file
  return [
    ...(typeof env === 'string' ? [resolve(folder, env)] : []),
    ...(authFile === undefined ? [] : [authFile]),
  ]
}

/** Converts `embed` to an absolute `file:export` if it is a path. Other values, such as `openai:…`, stay. */
function readIndex(value: unknown, folder: string): JsonObject | null {
  if (!isObject(value)) return null
  const embed = text(value['embed'])
  if (embed === undefined || !embed.startsWith('.')) return value
  const { file, export: name } = fileAndExport(embed, folder)
  return { ...value, embed: `${file}:${name}` }
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
