import { readFile } from 'node:fs/promises'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { AppError } from '../../base/errors.ts'
import { type GraphSpec, readGraphSpec } from '../../graph/project/graph-spec.ts'
import { parseProjectEnv, type ProjectEnv, readProjectEnv } from '../../graph/project/project-env.ts'
import { isObject } from '../../schema/json.ts'
import { KEY_VARIABLES, readDeploySettings } from '../server/client-settings.ts'

export interface LocalProject {
  /** The folder that contains langgraph.json; its content is deployed. */
  dir: string
  /** Name of the file of langgraph.json in this folder. */
  config: string
  graphs: LocalGraph[]
  /** Packages of Python, and folders, which begin with a dot. */
  dependencies: string[]
  /** `python_version` of langgraph.json, such as 3.12. */
  python_version: string | undefined
  /** Whether langgraph.json asks for uv. */
  uses_uv: boolean
  /** The variables of its `.env`; empty without one. */
  env: Readonly<Record<string, string>>
  /** A sentence about the `.env` that langgraph.json names and that does not exist; null if there is nothing to say. */
  missing_env: string | null
}

/** An entry of `graphs` in langgraph.json. */
export interface LocalGraph extends Pick<GraphSpec, 'language'> {
  id: string
  /** The path of its file relative to the project; null for a Python module, which may be in several places. */
  path: string | null
}

/** Variables of clients on this machine, which are not secrets of the deployment. */
const OF_CLIENTS = new Set<string>([
  ...KEY_VARIABLES,
  ...['WEIR_URL', 'LANGSMITH_ENDPOINT', 'LANGSMITH_DEPLOYMENT_NAME', 'LANGSMITH_TENANT_ID'],
])

/** Reads langgraph.json and `.env`, or the files that flags name. @throws AppError config_invalid */
export async function readProject(flags: {
  config?: string | undefined
  'env-file'?: string | undefined
}): Promise<LocalProject> {
  const path = resolve(flags.config ?? 'langgraph.json')
  const file = await readConfig(path, flags.config !== undefined)
  const dir = dirname(path)
  const graphs = readGraphs(file['graphs'], path)
  const { python_version: asked } = file
  const python_version = typeof asked === 'string' && asked !== '' ? asked : undefined
  const sent: unknown[] = Array.isArray(file['dependencies']) ? file['dependencies'] : []
  const dependencies = sent.filter((one) => typeof one === 'string')
  const { env, missing: missing_env } = await readEnv(flags['env-file'], file['env'], path)
  const uses_uv = Object(file['source']).kind === 'uv'
  return { dir, config: basename(path), graphs, dependencies, python_version, uses_uv, env, missing_env }
}

/**
 * The project's variables that are sent as secrets: all except the keys and addresses of clients on this
 * machine.
 */
export function secretsOf({ env }: Pick<LocalProject, 'env'>): { name: string; value: string }[] {
  return Object.entries(env).flatMap(([name, value]) =>
    OF_CLIENTS.has(name) || value === '' ? [] : [{ name, value }],
  )
}

/**
 * Returns the name of the project's deployment. `asked` is LANGSMITH_DEPLOYMENT_NAME; if it is undefined, the folder
 * determines the name.
 */
export function wantedName({ dir, env }: Pick<LocalProject, 'dir' | 'env'>): {
  name: string
  asked: string | undefined
} {
  const asked = readDeploySettings(env).name
  return { name: deploymentNameOf(asked ?? basename(dir)), asked }
}

/**
 * Converts a text to a name that can be part of a path: lower case, one `-` for each series of other characters, at
 * most 63 characters.
 */
export function deploymentNameOf(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 63)
    .replace(/^-+|-+$/g, '')
}

async function readConfig(path: string, isNamed: boolean): Promise<Readonly<Record<string, unknown>>> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'EISDIR')
      throw invalid(`${path} is a folder: --config names a file, such as ${join(path, 'langgraph.json')}.`)
    const where = isNamed ? `at ${path}` : 'in this folder'
    throw invalid(`There is no langgraph.json ${where}: run it in your project, or pass --config.`)
  })
  let file: unknown
  try {
    // Editors on Windows put a byte order mark first.
    file = JSON.parse(text.replace(/^\uFEFF/, ''))
  } catch (error) {
    throw invalid(`${path} is not valid JSON: ${error instanceof Error ? error.message : String(error)}.`)
  }
  if (isObject(file)) return file
  throw invalid(`${path} is not a JSON object.`)
}

function readGraphs(graphs: unknown, path: string): LocalGraph[] {
  const entries = isObject(graphs) ? Object.entries(graphs) : []
  if (entries.length === 0)
    throw invalid(`${path} names no graph: "graphs" maps names to paths such as "./agent.ts:graph".`)
  return entries.map(([id, value]) => {
    const spec = isObject(value) ? value['path'] : value
    if (typeof spec !== 'string' || spec === '')
      throw invalid(`${path}: graph "${id}" needs a path such as "./agent.ts:graph".`)
    const { language, module, file } = readGraphSpec(spec, dirname(path))
    return { id, language, path: module === null ? relative(dirname(path), file) : null }
  })
}

/** The variables of the file that --env-file or langgraph.json names, or else of `.env`. */
async function readEnv(flag: string | undefined, named: unknown, config: string): Promise<ProjectEnv> {
  if (flag === undefined && typeof named === 'string') return await readProjectEnv(named, config, process.env)
  const path = flag === undefined ? join(dirname(config), '.env') : resolve(flag)
  const text = await readFile(path, 'utf8').catch(() => {
    if (flag !== undefined) throw invalid(`There is no file ${path}, which --env-file names.`)
    return ''
  })
  return { env: parseProjectEnv(text, process.env), missing: null }
}

function invalid(message: string): AppError {
  return new AppError('config_invalid', { message })
}
