import { isObject, type JsonObject } from '../../schema/json.ts'

/** One tool offered to a model, independent of the vendor's format. */
export interface ToolDefinition {
  name: string
  description: string
  /** JSON Schema of the arguments; an empty object if there is none. */
  parameters: JsonObject
}

// Depth below which a schema is abbreviated; far more than real tools need.
const DEEPEST = 24

/**
 * The tools in a value as sent: OpenAI (chat, Responses, legacy functions), Anthropic, Gemini, one tool or a list of
 * them. Tools without a name are left out.
 */
export function readTools(tools: unknown): ToolDefinition[] {
  return listOf(tools).flatMap((tool) => {
    const declarations = isObject(tool)
      ? (tool['functionDeclarations'] ?? tool['function_declarations'])
      : undefined
    return listOf(declarations ?? tool).flatMap(readTool)
  })
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [value]
}

function readTool(tool: unknown): ToolDefinition[] {
  if (!isObject(tool)) return []
  const inner = isObject(tool['function']) ? tool['function'] : tool
  const name = inner['name']
  if (typeof name !== 'string') return []
  const description = typeof inner['description'] === 'string' ? inner['description'] : ''
  const schema = inner['parameters'] ?? inner['input_schema'] ?? inner['inputSchema']
  return [{ name, description, parameters: isObject(schema) ? schema : {} }]
}

/**
 * The text in which OpenAI's chat models receive tool definitions, as far as it is publicly known: a TypeScript
 * namespace with one function type per tool, descriptions as comments.
 */
export function toolsAsNamespace(tools: readonly ToolDefinition[]): string {
  const lines = ['namespace functions {', '']
  for (const tool of tools) {
    lines.push(...commentLines(tool.description))
    const members = memberLines(tool.parameters, 0, '')
    if (members.length === 0) lines.push(`type ${tool.name} = () => any;`)
    else lines.push(`type ${tool.name} = (_: {`, ...members, '}) => any;')
    lines.push('')
  }
  lines.push('} // namespace functions')
  return lines.join('\n')
}

function commentLines(description: unknown): string[] {
  return typeof description === 'string' && description !== '' ? [`// ${description}`] : []
}

function memberLines(schema: JsonObject, depth: number, indent: string): string[] {
  const properties = schema['properties']
  if (!isObject(properties)) return []
  const required = new Set(Array.isArray(schema['required']) ? schema['required'] : [])
  return Object.entries(properties).flatMap(([name, value]) => {
    const property = isObject(value) ? value : {}
    // Descriptions of nested members do not reach the model.
    const comment = depth === 0 ? commentLines(property['description']) : []
    return [
      ...comment,
      `${indent}${name}${required.has(name) ? '' : '?'}: ${typeText(property, depth, indent)},`,
    ]
  })
}

function typeText(schema: JsonObject, depth: number, indent: string): string {
  if (depth > DEEPEST) return 'any'
  const inner = (value: unknown) => (isObject(value) ? typeText(value, depth + 1, indent) : 'any')
  const options = schema['enum']
  if (Array.isArray(options)) return options.map((option) => JSON.stringify(option)).join(' | ')
  const union = schema['anyOf'] ?? schema['oneOf']
  if (Array.isArray(union)) return union.map(inner).join(' | ')
  const type = schema['type']
  if (Array.isArray(type)) return type.map((one) => inner({ ...schema, type: one })).join(' | ')
  switch (type) {
    case 'integer':
      return 'number'
    case 'array':
      return `${inner(schema['items'])}[]`
    case 'object': {
      const members = memberLines(schema, depth + 1, `${indent}  `)
      return members.length === 0 ? 'object' : `{\n${members.join('\n')}\n${indent}}`
    }
    default:
      return typeof type === 'string' ? type : 'any'
  }
}
