import { within } from '../../../base/background/within.ts'
import { isObject, type JsonObject } from '../../../schema/json.ts'
import type { AskRoute } from '../../mcp/ask-route.ts'
import { RpcFault } from '../../mcp/message.ts'
import type { McpTool, ToolServer } from '../../mcp/tool-server.ts'
import { answerStream, callAssistant, type ToolCaller } from './call-assistant.ts'
import { toolInputSchema } from './input-schema.ts'

interface Assistant {
  assistant_id: string
  graph_id: string
  name: string
  description?: string | null
}

interface NamedAssistant extends Assistant {
  tool: string
}

const PAGE = 100
/** Assistants of a deployment that are tools. */
const MAX_ASSISTANTS = 1000
const SEARCH_PAGE = 100
const MAX_NAME = 128
/**
 * Time after which a list shows a tool without the schema of its graph. A compiler reads some schemas, which takes up to
 * a minute; clients give up by then.
 */
const SCHEMAS_MS = 10_000
const WRITES = { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true }

/** The assistants of a deployment as tools of MCP: listing shows them, a call is a stateless run (rules MCP-6 to MCP-8). */
export function graphTools(caller: ToolCaller, info: ToolServer['info']): ToolServer {
  const { ask } = caller
  return {
    info,
    async list(cursor) {
      const from = cursor === undefined ? 0 : Number(cursor)
      if (!Number.isInteger(from) || from < 0)
        throw new RpcFault('invalid_params', 'cursor must be that of an earlier page.')
      const assistants = await namedAssistants(ask)
      const page = assistants.slice(from, from + PAGE)
      const tools = await Promise.all(page.map((assistant) => definitionOf(assistant, ask)))
      const next = from + PAGE
      return { tools, ...(next < assistants.length && { nextCursor: String(next) }) }
    },
    async call(call) {
      const { name } = call
      const assistant = (await namedAssistants(ask)).find(({ tool }) => tool === name)
      if (assistant === undefined)
        throw new RpcFault(
          'invalid_params',
          `Unknown tool "${name.slice(0, MAX_NAME)}"; tools/list lists them.`,
        )
      const { assistant_id } = assistant
      return await callAssistant({ assistant_id, schemas: await schemasOf(assistant, ask) }, call, caller)
    },
    answer: (state, result) => answerStream(caller, state, result),
  }
}

/** Assistants in order of name, then id, each with a name that no other has. */
async function namedAssistants(ask: AskRoute): Promise<NamedAssistant[]> {
  const all: Assistant[] = []
  while (all.length < MAX_ASSISTANTS) {
    const body = { limit: SEARCH_PAGE, offset: all.length }
    const page = (await ask('POST /assistants/search', { body })) as Assistant[]
    all.push(...page)
    if (page.length < SEARCH_PAGE) break
  }
  const sorted = all.toSorted((a, b) => compare(a.name, b.name) || compare(a.assistant_id, b.assistant_id))
  const taken = new Set<string>()
  return sorted.map((assistant) => {
    const plain = toolName(assistant)
    const id = assistant.assistant_id.replaceAll('-', '')
    // Ids that begin with a time have the same first digits.
    const names = [plain, ...[id.slice(0, 8), id.slice(-8), id].map((digits) => withDigits(plain, digits))]
    const tool = names.find((name) => !taken.has(name)) ?? id
    taken.add(tool)
    return { ...assistant, tool }
  })
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b)
}

function toolName({ name, graph_id }: Assistant): string {
  const clean = (text: string): string =>
    text
      .trim()
      .replaceAll(/\s+/g, '_')
      .replaceAll(/[^A-Za-z0-9_.-]/g, '')
      .slice(0, MAX_NAME)
  return clean(name) || clean(graph_id) || 'assistant'
}

function withDigits(name: string, digits: string): string {
  return `${name.slice(0, MAX_NAME - digits.length - 1)}_${digits}`
}

/** The schemas of an assistant's graph; empty if its graph cannot be loaded. */
async function schemasOf({ assistant_id }: Assistant, ask: AskRoute): Promise<JsonObject> {
  try {
    const schemas = await ask('GET /assistants/{assistant_id}/schemas', { params: { assistant_id } })
    return isObject(schemas) ? schemas : {}
  } catch {
    return {}
  }
}

async function definitionOf(assistant: NamedAssistant, ask: AskRoute): Promise<McpTool> {
  const { tool, name, description } = assistant
  const { input_schema } = await within(schemasOf(assistant, ask), SCHEMAS_MS, (): JsonObject => ({}))
  return {
    name: tool,
    title: name,
    description: description || `Tool based on the ${name} assistant`,
    inputSchema: toolInputSchema(input_schema),
    annotations: WRITES,
  }
}
