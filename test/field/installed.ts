import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type ClientRow, CLIENTS, FRAMEWORKS, LANGGRAPH_SERVER, type Language } from './table.ts'

const FOLDER = fileURLToPath(new URL('../../.clients/field/', import.meta.url))

/** A folder of `.clients/field`, and the versions that it holds when it is complete. */
export interface FieldFolder {
  path: string
  /** The dependencies of a package.json, or pip's `name==version` a line. */
  wanted: string
}

/** The name under which npm installs a release beside others of the same package. */
export function aliasOf([, name, version]: ClientRow): string {
  return `${name.replace(/^@.*\//, '')}-${version}`
}

const rows = <Row extends readonly [Language, ...string[]]>(all: readonly Row[], language: Language): Row[] =>
  all.filter(([one]) => one === language)

/** All releases of the SDKs for JavaScript, in one node_modules. */
export function javascriptClients(): FieldFolder {
  const aliases = rows(CLIENTS, 'javascript').map((row) => [aliasOf(row), `npm:${row[1]}@${row[2]}`])
  return { path: join(FOLDER, 'javascript-clients'), wanted: manifest(Object.fromEntries(aliases)) }
}

/** The frameworks of one language, and what they need: a node_modules or a virtual environment. */
export function frameworks(language: Language): FieldFolder {
  const path = join(FOLDER, `${language}-frameworks`)
  const pinned = rows(FRAMEWORKS, language).map(([, name, version]) => [name, version] as const)
  if (language === 'javascript') return { path, wanted: manifest(Object.fromEntries(pinned)) }
  return { path, wanted: [...new Set(pinned.map(([name, version]) => `${name}==${version}`))].join('\n') }
}

/** The last releases of LangSmith's SDK for Python that need the same packages: the second needs another HTTP client. */
const LANGSMITH_NEEDS = ['0.11.2', '0.15.1']

/**
 * Virtual environments with what releases of LangSmith's SDK need, up to each of LANGSMITH_NEEDS. They have no LangChain,
 * whose newest release does not go with earlier ones of the SDK.
 */
export function langsmithEnvironments(): FieldFolder[] {
  return LANGSMITH_NEEDS.map((version) => ({
    path: join(FOLDER, `python-langsmith-${version}`),
    wanted: `langsmith==${version}`,
  }))
}

/** The interpreter of the environment for a release of LangSmith's SDK. */
export function langsmithPython([, , version]: ClientRow): string {
  const isLater = (one: string): boolean => version.localeCompare(one, 'en', { numeric: true }) > 0
  const place = LANGSMITH_NEEDS.findIndex((one) => !isLater(one))
  return join(langsmithEnvironments().at(place)?.path ?? '', 'bin', 'python')
}

/** The folder of a release of an SDK for Python, for PYTHONPATH. What LangGraph's releases need is in .venv. */
export function pythonFolder(row: ClientRow): string {
  return join(FOLDER, 'python-clients', aliasOf(row))
}

/** Virtual environments with OpenTelemetry's exporters and their SDK. */
export function exporterEnvironments(): FieldFolder[] {
  return rows(CLIENTS, 'python')
    .filter(isExporter)
    .map(([, name, version]) => ({
      path: join(FOLDER, `python-exporters-${version}`),
      wanted: `${name}==${version}`,
    }))
}

/** The interpreter of the environment for a release of OpenTelemetry's exporters. */
export function exporterPython([, , version]: ClientRow): string {
  return join(FOLDER, `python-exporters-${version}`, 'bin', 'python')
}

const isExporter = ([, name]: ClientRow): boolean => name.startsWith('opentelemetry-')

/** Virtual environments with clients of MCP and A2A. */
export function agentEnvironments(): FieldFolder[] {
  return rows(CLIENTS, 'python')
    .filter(isAgent)
    .map((row) => ({ path: agentFolder(row), wanted: `${row[1]}==${row[2]}` }))
}

/** The interpreter of the environment for a release of a client of MCP or A2A. */
export function agentPython(row: ClientRow): string {
  return join(agentFolder(row), 'bin', 'python')
}

function agentFolder(row: ClientRow): string {
  return join(FOLDER, `python-agents-${aliasOf(row)}`)
}

/** A virtual environment with LangGraph's server for development. */
export function langgraphServer(): FieldFolder {
  return {
    path: join(FOLDER, 'python-langgraph-server'),
    wanted: LANGGRAPH_SERVER.map(([name, version]) => `${name}==${version}`).join('\n'),
  }
}

const isAgent = ([, name]: ClientRow): boolean => name === 'mcp' || name === 'a2a-sdk'

export function pythonClients(): FieldFolder[] {
  return rows(CLIENTS, 'python')
    .filter((row) => !isExporter(row) && !isAgent(row))
    .map((row) => ({
      path: pythonFolder(row),
      wanted: `${row[1]}==${row[2]}`,
    }))
}

function manifest(dependencies: Record<string, string>): string {
  return JSON.stringify({ private: true, dependencies }, null, 2)
}

/** The file that is written when a folder is complete. */
export function markOf({ path }: FieldFolder): string {
  return join(path, '.installed')
}

/** Whether a folder has the versions of the table. */
export function isInstalled(folder: FieldFolder): boolean {
  const mark = markOf(folder)
  return existsSync(mark) && readFileSync(mark, 'utf8') === folder.wanted
}

/** The reason to skip tests that need the folders, for their titles; '' when they can run. In CI they fail instead. */
export function withoutField(...folders: readonly FieldFolder[]): string {
  if (process.env['CI'] === '1' || folders.every(isInstalled)) return ''
  return ' (test/field/install has not been run)'
}
