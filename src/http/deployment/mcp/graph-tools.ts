import { isObject, type JsonObject, type JsonValue } from '../../../schema/json.ts'
import type { AskRoute } from '../../mcp/ask-route.ts'
import { RpcFault } from '../../mcp/message.ts'
import type { McpTool, ToolResult, ToolServer } from '../../mcp/serve-mcp.ts'
import { messageKeys, toolInputSchema } from './input-schema.ts'
import { toolResult } from './run-result.ts'

interface Assistant {
  assistant_id: string
  graph_id: string
  name: string
  description?: string | null
}

/** An assistant with the name of its tool. */
interface NamedAssistant extends Assistant {
  tool: string
}

const PAGE = 100
/** Assistants of a deployment that are tools. */
const MAX_ASSISTANTS = 1000
const SEARCH_PAGE = 100
const MAX_NAME = 128
/** Minutes for which the thread of a call that asks something is kept. */
const ASKING_MINUTES = 24 * 60
const WRITES = { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true }

/** The assistants of a deployment as tools of MCP: listing shows them, a call is a stateless run (rules MCP-6, MCP-7). */
export function graphTools(
  { ask, gone }: { ask: AskRoute; gone(): AbortSignal },
  info: ToolServer['info'],
): ToolServer {
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
    async call(name, args, { context }) {
      const assistant = (await namedAssistants(ask)).find(({ tool }) => tool === name)
      if (assistant === undefined)
        throw new RpcFault(
          'invalid_params',
          `Unknown tool "${name.slice(0, MAX_NAME)}"; tools/list lists them.`,
        )
      return await callAssistant(assistant, { args, context }, { ask, gone: gone() })
    },
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
  const { input_schema } = await schemasOf(assistant, ask)
  return {
    name: tool,
    title: name,
    description: description || `Tool based on the ${name} assistant`,
    inputSchema: toolInputSchema(input_schema),
    annotations: WRITES,
  }
}

/**
 * Runs an assistant on a thread that is deleted afterwards, unless the run asks something. A client that leaves cancels
 * the run. @throws RpcFault internal after the client has left
 */
async function callAssistant(
  assistant: Assistant,
  { args, context }: { args: JsonObject; context: JsonValue | undefined },
  { ask, gone }: { ask: AskRoute; gone: AbortSignal },
): Promise<ToolResult> {
  const { input_schema, output_schema } = await schemasOf(assistant, ask)
  const keys = messageKeys(input_schema)
  const thread = { ttl: { strategy: 'delete', ttl: ASKING_MINUTES } }
  const { thread_id } = (await ask('POST /threads', { body: thread })) as { thread_id: string }
  const params = { thread_id }
  const left = leaving(gone)
  let isKept = false
  try {
    const { assistant_id } = assistant
    const body = {
      assistant_id,
      input: inputOf(args, keys),
      on_disconnect: 'cancel',
      ...(isObject(context) && { context }),
    }
    // The answer to a client that has left never comes.
    const answer = ask('POST /threads/{thread_id}/runs/wait', { params, body })
    const output = (await Promise.race([answer, left.promise])) as JsonValue
    const questions = isObject(output) ? output['__interrupt__'] : undefined
    if (!Array.isArray(questions) || questions.length === 0) return toolResult(output, output_schema)
    isKept = true
    return { content: [{ type: 'text', text: await questionText(questions, thread_id, ask) }] }
  } finally {
    left.stop()
    // Who may not delete threads leaves it to the thread's time to live.
    if (!isKept) await ask('DELETE /threads/{thread_id}', { params }).catch(() => undefined)
  }
}

/** A promise that rejects when the client leaves, until it is stopped. */
function leaving(gone: AbortSignal): { promise: Promise<never>; stop(): void } {
  const { promise, reject } = Promise.withResolvers<never>()
  const leave = (): void => reject(new RpcFault('internal', 'The client has left.'))
  promise.catch(() => undefined)
  if (gone.aborted) leave()
  else gone.addEventListener('abort', leave, { once: true })
  return { promise, stop: () => gone.removeEventListener('abort', leave) }
}

/** The arguments as input: a text for a list of messages is one message of the user. */
function inputOf(args: JsonObject, keys: readonly string[]): JsonObject {
  const changed = keys.flatMap((key) =>
    typeof args[key] === 'string' ? [[key, [{ role: 'user', content: args[key] }]]] : [],
  )
  return { ...args, ...(Object.fromEntries(changed) as JsonObject) }
}

async function questionText(
  questions: readonly JsonValue[],
  thread_id: string,
  ask: AskRoute,
): Promise<string> {
  const [run] = (await ask('GET /threads/{thread_id}/runs', {
    params: { thread_id },
    query: { limit: '1' },
  })) as {
    run_id: string
  }[]
  const shown = questions.map((question) =>
    isObject(question)
      ? { id: question['id'] ?? question['interrupt_id'] ?? null, value: question['value'] ?? null }
      : question,
  )
  return JSON.stringify({ __interrupt__: shown, thread_id, run_id: run?.run_id ?? null })
}
