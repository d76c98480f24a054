import { resolve } from 'node:path'

/** The language of a graph, which determines the kind of its host. */
export type GraphLanguage = 'javascript' | 'python'

/** The module and the export of an entry `path:export` in `graphs` of langgraph.json. */
export interface GraphSpec {
  language: GraphLanguage
  /**
   * Absolute path of the module. For a Python module (`package.module:export`): the path that its file has in a project
   * without a folder `src`.
   */
  file: string
  /** Name of a Python module such as `agent.graph`; null for a file. */
  module: string | null
  /** Name of the export: a compiled graph, a builder, or a factory. */
  export: string
}

const PYTHON_FILE = /\.py$/
const JAVASCRIPT_FILE = /\.[cm]?[jt]sx?$/
const MODULE_NAME = /^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*$/

/** Reads `file:export`, or `package.module:export` of a Python project. */
export function readGraphSpec(spec: string, folder: string): GraphSpec {
  const { path, export: name } = splitSpec(spec)
  const isModule = MODULE_NAME.test(path) && !PYTHON_FILE.test(path) && !JAVASCRIPT_FILE.test(path)
  if (isModule) {
    const file = resolve(folder, `${path.replaceAll('.', '/')}.py`)
    return { language: 'python', file, module: path, export: name ?? 'graph' }
  }
  const file = resolve(folder, path)
  if (PYTHON_FILE.test(path)) return { language: 'python', file, module: null, export: name ?? 'graph' }
  return { language: 'javascript', file, module: null, export: name ?? 'default' }
}

/** Splits `path:export`. The colon of a drive letter is part of the path. */
function splitSpec(spec: string): { path: string; export: string | undefined } {
  const at = spec.lastIndexOf(':')
  if (at <= 1) return { path: spec, export: undefined }
  return { path: spec.slice(0, at), export: spec.slice(at + 1) || undefined }
}
