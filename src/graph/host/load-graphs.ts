import { registerHooks } from 'node:module'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { within } from '../../base/background/within.ts'
import type { CompiledGraph } from '@langchain/langgraph'
import { AppError } from '../../base/errors.ts'
import { isObject, type JsonObject } from '../../schema/json.ts'
import type { GraphEntry } from '../project/deployment-file.ts'
import { tooOldLanggraph } from '../project/langgraph-version.ts'
import { describeLoadFailure, GraphLoadError, type LoadFailure } from '../project/load-failure.ts'

export type AnyGraph = CompiledGraph<string>

export interface LoadedGraphs {
  failures: readonly LoadFailure[]
  /**
   * Returns the graph. If the module exports a factory, calls it with `config` and `runtime` and returns the result.
   * @throws AppError not_found for an unknown name; GraphLoadError; errors of the user's code unchanged
   */
  graph(graph_id: string, config: JsonObject, runtime: FactoryRuntime): Promise<AnyGraph>
  /** Whether the graph is the same for every config. False for a graph that a factory makes. */
  isFixed(graph_id: string): boolean
}

/** The purpose for which a factory is called: `ServerRuntime` of @langchain/langgraph-sdk. */
export type FactoryRuntime =
  | { accessContext: 'threads.create_run'; executionRuntime: { context: JsonObject } }
  | { accessContext: 'assistants.read' | 'threads.read' | 'threads.update'; executionRuntime: null }

type Factory = (config: JsonObject, runtime: FactoryRuntime) => unknown

/**
 * Imports every graph of the deployment. `files` is the result of `prepareLoader`, which must be called before. A graph
 * that cannot be loaded is listed in `failures`; the others are served.
 */
export async function loadGraphs(
  entries: readonly GraphEntry[],
  files: Iterable<string>,
): Promise<LoadedGraphs> {
  const loaded = new Map<string, AnyGraph | Factory>()
  const failures = new Map<string, LoadFailure>()
  for (const entry of entries) {
    try {
      loaded.set(entry.graph_id, await withoutExit(() => loadGraph(entry)))
    } catch (thrown) {
      failures.set(entry.graph_id, describeLoadFailure(entry, thrown, [...files]))
    }
  }
  return {
    failures: [...failures.values()],
    async graph(graph_id, config, runtime) {
      const failure = failures.get(graph_id)
      if (failure !== undefined) throw new GraphLoadError(failure)
      const found = loaded.get(graph_id)
      if (found === undefined)
        throw new AppError('not_found', { message: `No graph "${graph_id}" is deployed.` })
      if (typeof found !== 'function') return found
      return toGraph(await found(config, runtime), graph_id)
    },
    isFixed: (graph_id) => typeof loaded.get(graph_id) === 'object',
  }
}

/** Makes `process.exit()` throw an error during a load, because one module must not end the process of all graphs. */
async function withoutExit<T>(load: () => Promise<T>): Promise<T> {
  const { exit } = process
  process.exit = (code) => {
    throw new Error(`The module called process.exit(${code ?? ''}) while loading.`)
  }
  try {
    return await within(load(), LOAD_MS, tooLong)
  } finally {
    process.exit = exit
  }
}

const LOAD_MS = 60_000

function tooLong(): never {
  throw new Error(`Loading took longer than ${LOAD_MS / 1000} s.`)
}

/** A named export of a module, imported with the loader of the graphs. @throws AppError config_invalid */
export async function loadExport(file: string, name: string): Promise<unknown> {
  try {
    return await importExport(file, name)
  } catch (cause) {
    throw new AppError('config_invalid', { message: `${file} cannot be loaded: ${reasonOf(cause)}`, cause })
  }
}

/**
 * Imports an export of a module. @throws AppError config_invalid for a missing export; errors of the module unchanged
 */
async function importExport(file: string, name: string): Promise<unknown> {
  const module = (await import(pathToFileURL(file).href)) as Record<string, unknown>
  const value = exportOf(module, name)
  if (value !== undefined) return value
  const names = Object.keys(module).filter((one) => one !== 'module.exports')
  const there = names.length === 0 ? 'nothing' : names.join(', ')
  throw new AppError('config_invalid', { message: `It has no export "${name}". It exports ${there}.` })
}

/** The error message, with the lines of its stack that are in the user's files. */
function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause)
  if (cause instanceof AppError) return cause.message
  const lines = (cause.stack ?? cause.message).split('\n')
  return lines.filter((line) => !/^ {4}at .*(\/node_modules\/|node:|<anonymous>)/.test(line)).join('\n')
}

/**
 * Finds an export. The exports of a CommonJS module are under `default`. If the module was compiled from an ES module,
 * its default export is the member `default` of that object.
 */
function exportOf(module: Record<string, unknown>, name: string): unknown {
  const whole = module['default']
  const inner = typeof whole === 'object' && whole !== null ? (whole as Record<string, unknown>) : {}
  if (name === 'default' && inner['__esModule'] === true) return inner['default']
  return module[name] ?? inner[name]
}

const TYPESCRIPT = /\.[cm]?tsx?$/

/**
 * Prepares `import` for graphs. TypeScript is compiled by tsx, which supports enums and `.js` specifiers (D-42) and is
 * loaded only when a file needs it. Packages that are missing in a graph's folder are resolved from Weir's installation.
 * `loads` is called with every module outside of packages that is loaded or not found. The returned set holds the loaded
 * modules and is updated by later imports.
 */
export async function prepareLoader(
  files: readonly string[],
  loads: (file: string) => void = () => undefined,
): Promise<ReadonlySet<string>> {
  const resolved = new Set<string>()
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
        if (isOwnFile(found.url)) {
          const file = fileURLToPath(found.url)
          resolved.add(file)
          loads(file)
        }
        return found
      } catch (error) {
        for (const file of soughtFiles(specifier, context.parentURL)) loads(file)
        if (!isPackageName(specifier)) throw error
        try {
          return nextResolve(specifier, { ...context, parentURL: import.meta.url })
        } catch {
          throw error
        }
      }
    },
  })
  return resolved
}

/** A user's file outside of packages. */
function isOwnFile(url: string): boolean {
  return url.startsWith('file:') && !url.includes('/node_modules/')
}

/** The files that a relative specifier may mean, if none of them was found. */
function soughtFiles(specifier: string, parent: string | undefined): string[] {
  const url = specifier.startsWith('.') ? URL.parse(specifier, parent) : null
  if (url === null || !isOwnFile(url.href)) return []
  const path = fileURLToPath(url)
  const stem = path.replace(/\.[cm]?jsx?$/, '')
  return [path, ...['.ts', '.tsx', '.mts', '.js', '.mjs'].map((extension) => stem + extension)]
}

function isPackageName(specifier: string): boolean {
  return !specifier.startsWith('.') && !specifier.startsWith('/') && !specifier.includes(':')
}

async function loadGraph(entry: GraphEntry): Promise<AnyGraph | Factory> {
  const tooOld = await tooOldLanggraph(entry.file)
  if (tooOld !== undefined) throw new AppError('config_invalid', { message: tooOld })
  const value = await importExport(entry.file, entry.export)
  if (typeof value === 'function') return value as Factory
  return toGraph(await value, entry.graph_id)
}

function toGraph(value: unknown, graph_id: string): AnyGraph {
  if (isCompiled(value)) return value
  if (isBuilder(value)) return value.compile()
  // The agents of langchain and deepagents have their compiled graph in a field.
  if (isObject(value) && isCompiled(value['graph'])) return value['graph']
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
