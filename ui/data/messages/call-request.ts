import type { Message } from '../../api/messages.ts'
import type { TraceRunRead as ReadRun } from '../../api/platform.gen.ts'

/** A tool that a model could call. */
export interface OfferedTool {
  name: string
  description: string
  /** JSON schema of its arguments; undefined for tools of the vendor. */
  schema: unknown
}

/** Fields of a request that are shown as messages or as tools. */
const SHOWN_ELSEWHERE = new Set([
  ...['messages', 'input', 'prompt', 'contents', 'system', 'instructions', 'system_instruction'],
  ...['tools', 'functions'],
])
/** A longer text in the inputs is shown as a message, not as a parameter. */
const LONGEST_PARAMETER = 200

type Fields = Readonly<Record<string, unknown>>

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {}
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

/**
 * The tools in one entry of a list of tools, in the forms of OpenAI, Anthropic, the AI SDK and Gemini. An entry of
 * Gemini contains several tools.
 */
function toolsIn(entry: unknown): OfferedTool[] {
  const tool = fieldsOf(entry)
  const declared = tool['functionDeclarations'] ?? tool['function_declarations']
  if (Array.isArray(declared)) return declared.flatMap(toolsIn)
  const own = { ...tool, ...fieldsOf(tool['function']) } as Fields
  const name = textOf(own['name']) || textOf(own['type'])
  const schema = own['parameters'] ?? own['input_schema'] ?? own['inputSchema'] ?? own['json_schema']
  return name === '' ? [] : [{ name, description: textOf(own['description']), schema }]
}

function listIn(holder: Fields): unknown[] {
  const list = holder['tools'] ?? holder['functions']
  if (Array.isArray(list)) return list
  // The AI SDK names its tools by the keys of an object.
  return Object.entries(fieldsOf(list)).map(([name, tool]) => ({ name, ...fieldsOf(tool) }))
}

const settingsOf = ({ extra }: ReadRun): Fields => fieldsOf(extra?.['invocation_params'])

/** The tools that were offered with a model call, each once. */
export function offeredTools(run: ReadRun): OfferedTool[] {
  const inputs = fieldsOf(run.inputs)
  const found = [settingsOf(run), inputs, fieldsOf(inputs['config'])].map((holder) =>
    listIn(holder).flatMap(toolsIn),
  )
  const tools = found.find((list) => list.length > 0) ?? []
  return [...new Map(tools.map((tool) => [tool.name, tool])).values()]
}

/** Names of the tools that some messages call, with the number of calls. */
export function calledTools(messages: readonly Message[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { content } of messages)
    for (const block of content) {
      if (block.type !== 'tool_call' && block.type !== 'server_tool_call') continue
      const name = textOf(block['name'])
      counts.set(name, (counts.get(name) ?? 0) + 1)
    }
  return counts
}

/** The settings that were sent with the messages of a model call, such as temperature, unchanged. */
export function parametersOf(run: ReadRun): [name: string, value: unknown][] {
  const isParameter = ([name, value]: [string, unknown]): boolean =>
    !SHOWN_ELSEWHERE.has(name) &&
    value !== null &&
    value !== undefined &&
    !(typeof value === 'string' && value.length > LONGEST_PARAMETER)
  const all = [...Object.entries(fieldsOf(run.inputs)), ...Object.entries(settingsOf(run))].filter(
    isParameter,
  )
  return [...new Map(all)]
}
