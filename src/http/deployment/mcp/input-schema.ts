import { isObject, type JsonObject, type JsonValue } from '../../../schema/json.ts'

/** Names of the definitions of LangChain's messages in JSON Schemas of graphs. */
const MESSAGE = /"#\/(?:\$defs|definitions)\/(?:AI|Human|System|Tool|Base|Function|Chat|Remove)Message/

/**
 * The schema of a tool's arguments, from the input schema of its graph (rule MCP-6). A list of messages becomes a text,
 * because models write no message objects. Any object, if the graph has no usable schema.
 */
export function toolInputSchema(schema: unknown): JsonObject {
  if (!isObject(schema)) return { type: 'object' }
  const { type: _type, properties, $defs, definitions, title: _title, ...rest } = schema
  if (!isObject(properties)) return { type: 'object' }
  const changed = Object.entries(properties).map(([name, property]) => [
    name,
    isMessageList(property) ? messageText(property) : property,
  ])
  const own = { type: 'object', properties: Object.fromEntries(changed) as JsonObject, ...rest }
  const text = JSON.stringify(own)
  return {
    ...own,
    ...($defs !== undefined && text.includes('"#/$defs/') && { $defs }),
    ...(definitions !== undefined && text.includes('"#/definitions/') && { definitions }),
  }
}

/** Names of the properties that are lists of messages. */
export function messageKeys(schema: unknown): string[] {
  const properties = isObject(schema) && isObject(schema['properties']) ? schema['properties'] : {}
  return Object.keys(properties).filter((name) => isMessageList(properties[name]))
}

function isMessageList(property: JsonValue | undefined): property is JsonObject {
  if (!isObject(property)) return false
  if (property['langgraph_type'] === 'messages') return true
  if (property['type'] !== 'array' && property['type'] !== undefined) return false
  // A single message is an object for the graph, and a text would not be one.
  const text = JSON.stringify(property)
  return MESSAGE.test(text) && text.includes('"type":"array"')
}

function messageText({ title, description }: JsonObject): JsonObject {
  return {
    type: 'string',
    ...(title !== undefined && { title }),
    description: description ?? 'The message of the user.',
  }
}
