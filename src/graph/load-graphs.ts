import { registerHooks } from 'node:module'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { CompiledGraph } from '@langchain/langgraph'
import { AppError } from '../base/errors.ts'
import type { JsonObject } from '../schema/json.ts'
import type { GraphEntry } from './deployment-file.ts'

/** A compiled graph of whatever shape. */
export type AnyGraph = CompiledGraph<string>

/** The graphs of a deployment, as a host has them. */
export interface LoadedGraphs {
  /**
   * The graph, made by its factory where it has one: `config` is what the factory gets.
   * @throws AppError not_found for a name that the deployment lacks; what the user's code throws as it is
   */
  graph(graph_id: string, config: JsonObject): Promise<AnyGraph>
  /** False when a factory makes it anew for each config. */
  isFixed(graph_id: string): boolean
}

type Factory = (config: JsonObject) => unknown

/**
 * Imports every graph of the deployment, after `prepareLoader`.
 * @throws AppError config_invalid when a module or its export is not there or is no graph
 */
export async function loadGraphs(entries: readonly GraphEntry[]): Promise<LoadedGraphs> {
  const loaded = new Map<string, AnyGraph | Factory>()
  for (const entry of entries) loaded.set(entry.graph_id, await loadGraph(entry))
  return {
    async graph(graph_id, config) {
      const found = loaded.get(graph_id)
      if (found === undefined)
        throw new AppError('not_found', { message: `No graph "${graph_id}" is deployed.` })
      if (typeof found !== 'function') return found
      return toGraph(await found(config), graph_id)
    },
    isFixed: (graph_id) => typeof loaded.get(graph_id) === 'object',
  }
}

/** What a module exports under a name, with the loader of the graphs. @throws AppError config_invalid */
export async function loadExport(file: string, name: string): Promise<unknown> {
  let module: Record<string, unknown>
  try {
    module = (await import(pathToFileURL(file).href)) as Record<string, unknown>
  } catch (cause) {
    throw new AppError('config_invalid', { message: `${file} cannot be loaded: ${reasonOf(cause)}`, cause })
  }
  const value = exportOf(module, name)
  if (value === undefined) {
    throw new AppError('config_invalid', { message: `${file} has no export "${name}".` })
  }
  return value
}

/** With the stack as far as it is in the user's files. */
function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause)
  const lines = (cause.stack ?? cause.message).split('\n')
  return lines.filter((line) => !/^ {4}at .*(\/node_modules\/|node:|<anonymous>)/.test(line)).join('\n')
}

/** A CommonJS module's exports are under `default`; one that was compiled from ES has its default export in there. */
function exportOf(module: Record<string, unknown>, name: string): unknown {
  const whole = module['default']
  const inner = typeof whole === 'object' && whole !== null ? (whole as Record<string, unknown>) : {}
  if (name === 'default' && inner['__esModule'] === true) return inner['default']
  return module[name] ?? inner[name]
}

const TYPESCRIPT = /\.[cm]?tsx?$/

/**
 * Makes `import` load what graphs are made of: TypeScript goes through tsx, which takes enums and `.js` specifiers too
 * (D-42), and costs nothing where no file needs it. Packages that a graph's folder does not have are looked for where
 * Weir is installed. `loads` hears of every module outside of packages that is loaded, or looked for where none is.
 */
export async function prepareLoader(
  files: readonly string[],
  loads: (file: string) => void = () => undefined,
): Promise<void> {
  if (files.some((file) => TYPESCRIPT.test(file))) {
    const [{ register: registerEsm }, { register: registerCjs }] = await Promise.all([
      import('tsx/esm/api'),
      import('tsx/cjs/api'),
    ])
    registerCjs()
    registerEsm()
  }
  registerHooks({
    resolve(specifier, context, nextResolve) {
      try {
        const found = nextResolve(specifier, context)
        if (isOwnFile(found.url)) loads(fileURLToPath(found.url))
        return found
      } catch (error) {
        for (const file of soughtFiles(specifier, context.parentURL)) loads(file)
        if (!isBare(specifier)) throw error
        try {
          return nextResolve(specifier, { ...context, parentURL: import.meta.url })
        } catch {
          throw error
        }
      }
    },
  })
}

/** A file of the user's, in no package. */
function isOwnFile(url: string): boolean {
  return url.startsWith('file:') && !url.includes('/node_modules/')
}

/** What would be a relative specifier's file, had it been there. */
function soughtFiles(specifier: string, parent: string | undefined): string[] {
  const url = specifier.startsWith('.') ? URL.parse(specifier, parent) : null
  if (url === null || !isOwnFile(url.href)) return []
  const path = fileURLToPath(url)
  const stem = path.replace(/\.[cm]?jsx?$/, '')
  return [path, ...['.ts', '.tsx', '.mts', '.js', '.mjs'].map((extension) => stem + extension)]
}

function isBare(specifier: string): boolean {
  return !specifier.startsWith('.') && !specifier.startsWith('/') && !specifier.includes(':')
}

async function loadGraph(entry: GraphEntry): Promise<AnyGraph | Factory> {
  const value = await loadExport(entry.file, entry.export)
  if (typeof value === 'function') return value as Factory
  return toGraph(await value, entry.graph_id)
}

function toGraph(value: unknown, graph_id: string): AnyGraph {
  if (isCompiled(value)) return value
  if (isBuilder(value)) return value.compile()
  throw new AppError('config_invalid', {
    message: `The export of graph "${graph_id}" is neither a compiled graph, nor a builder, nor a factory of one.`,
  })
}

function isCompiled(value: unknown): value is AnyGraph {
  return typeof value === 'object' && value !== null && 'lg_is_pregel' in value && value.lg_is_pregel === true
}

function isBuilder(value: unknown): value is { compile(): AnyGraph } {
  return (
    typeof value === 'object' && value !== null && 'compile' in value && typeof value.compile === 'function'
  )
}
