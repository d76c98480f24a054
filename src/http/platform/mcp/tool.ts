import type { Permission } from '../../../identity/permissions.ts'
import type { JsonObject, JsonValue } from '../../../schema/json.ts'
import type { SchemaTypes } from '../../../schema/types.gen.ts'
import type { McpTool } from '../../mcp/tool-server.ts'
import type { AskRoute } from '../../mcp/ask-route.ts'
import {
  type ArgumentSpecs,
  type Arguments,
  inputSchema,
  readToolArguments,
  ToolFailure,
} from './arguments.ts'
import type { CountTokens } from './budget.ts'
import { type OutlineNode, readOutlineNodes } from './outline.ts'

/** The parts that tools work with, for one caller. */
export interface ToolContext {
  ask: AskRoute
  count: CountTokens
  /** Workspaces that the caller may read, the one of the request first. */
  workspace_ids: readonly string[]
  /** Now, in epoch milliseconds. */
  now: number
}

/** A tool that reads traces. Its answer is text. */
export interface ReadTool {
  /**
   * The permissions of the routes that it asks. Only for the page of permissions: a tool is refused by the routes
   * themselves.
   */
  needs: readonly Permission[]
  definition: McpTool
  call(sent: JsonObject, context: ToolContext): Promise<string>
}

const READS = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false }

export function readTool(
  name: string,
  needs: readonly Permission[],
  description: string,
  specs: ArgumentSpecs,
  act: (args: Arguments, context: ToolContext) => Promise<string>,
): ReadTool {
  return {
    needs,
    definition: { name, description, inputSchema: inputSchema(specs), annotations: READS },
    call: async (sent, context) => await act(readToolArguments(name, specs, sent), context),
  }
}

/** A TraceRun as `GET /runs/{id}` returns it. */
export type RunJson = JsonObject

const UUID = /^[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}$/i
const SHORT_ID = /^(id:)?[0-9a-f]{8}$/i

/** The TraceRun with this id; files in base64 are references. @throws ToolFailure for an unknown one */
export async function readRun(ask: AskRoute, run_id: string): Promise<RunJson> {
  const run = await ask('GET /runs/{id}', { params: { id: run_id }, query: { media: 'refs' } })
  return run as RunJson
}

/** The whole id of a run that may be given by the last 8 digits that outlines show. */
export async function wholeRunId(
  ask: AskRoute,
  run_id: string,
  trace_id: string | undefined,
): Promise<string> {
  if (UUID.test(run_id)) return run_id
  if (!SHORT_ID.test(run_id)) throw new ToolFailure(`"${run_id.slice(0, 80)}" is no id of a run.`)
  if (trace_id === undefined) throw new ToolFailure('With 8 digits of an id, trace_id must name the trace.')
  const { nodes } = await readTrace(ask, trace_id)
  return nodes[placeOf(nodes, run_id)]!.id
}

/** The place of a TraceRun by its id or its last 8 digits. @throws ToolFailure */
export function placeOf(nodes: readonly OutlineNode[], id: string): number {
  const digits = id.replace(/^id:/, '').toLowerCase()
  const place = nodes.findIndex((node) => node.id === digits || node.id.endsWith(digits))
  if (place === -1) throw new ToolFailure(`The trace has no run ${digits}; read_trace lists its runs.`)
  return place
}

/** A trace as an outline; `totals` are those of the whole trace. */
export interface TraceOutline {
  nodes: OutlineNode[]
  outline: SchemaTypes['trace-outline']
}

/** @throws ToolFailure for an unknown trace */
export async function readTrace(ask: AskRoute, trace_id: string): Promise<TraceOutline> {
  if (!UUID.test(trace_id)) throw new ToolFailure(`"${trace_id.slice(0, 80)}" is no id of a trace.`)
  const answer = await ask('GET /traces/{trace_id}', { params: { trace_id }, query: { view: 'outline' } })
  const outline = answer as SchemaTypes['trace-outline']
  return { outline, nodes: readOutlineNodes(outline) }
}

/** Errors of at most 100 TraceRuns of a trace, newest first, by id. */
export async function readErrors(ask: AskRoute, trace: string): Promise<Map<string, string>> {
  const body = { trace, error: true, select: ['id', 'error'], limit: 100 }
  const { runs } = (await ask('POST /runs/query', { body })) as {
    runs: { id: string; error: string | null }[]
  }
  return new Map(runs.map(({ id, error }) => [id, error ?? '']))
}

/** The id of the project with this name. @throws ToolFailure that names some projects */
export async function projectId(ask: AskRoute, name: string): Promise<string> {
  const [found] = (await ask('GET /sessions', { query: { name } })) as { id: string }[]
  if (found !== undefined) return found.id
  if (UUID.test(name)) return name
  const some = (await ask('GET /sessions', { query: { limit: '10' } })) as { name: string }[]
  const names = some.map((project) => project.name).join(', ') || 'none'
  throw new ToolFailure(
    `There is no project "${name.slice(0, 200)}". Projects: ${names}. list_projects lists more.`,
  )
}

const MAX_PROJECTS = 20

/** The ids of the project with this name, or of those in a list of names as JSON, as LangSmith's tools take it. */
export async function projectIds(ask: AskRoute, text: string): Promise<string[]> {
  const names = listOfNames(text) ?? [text]
  if (names.length > MAX_PROJECTS) throw new ToolFailure(`At most ${MAX_PROJECTS} projects can be named.`)
  return await Promise.all(names.map(async (name) => await projectId(ask, name)))
}

/** Undefined for a text that is no list of names. */
function listOfNames(text: string): string[] | undefined {
  if (!text.startsWith('[')) return undefined
  try {
    const names: unknown = JSON.parse(text)
    const isList = Array.isArray(names) && names.length > 0
    return isList && names.every((name) => typeof name === 'string') ? names : undefined
  } catch {
    return undefined
  }
}

/** The value as a number of dollars or tokens; null if it is unknown. */
export function numberOf(value: JsonValue | undefined): number | null {
  return value === null || value === undefined || value === '' ? null : Number(value)
}
