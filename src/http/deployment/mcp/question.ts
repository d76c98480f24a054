import { isObject, type JsonObject, type JsonValue } from '../../../schema/json.ts'
import type { Form } from '../../mcp/tool-server.ts'

/** An interrupt of a run that waits for an answer. */
export interface AskedQuestion {
  id: string
  value: JsonValue
  response_schema?: JsonValue
}

/** The interrupts in the result of a run; none if the run has ended. */
export function questionsIn(output: JsonValue): AskedQuestion[] {
  const asked = isObject(output) ? output['__interrupt__'] : undefined
  return (Array.isArray(asked) ? asked : []).map((one, place) => {
    if (!isObject(one)) return { id: String(place), value: one }
    const { id, interrupt_id, value = null, response_schema } = one
    const name = id ?? interrupt_id
    return {
      id: typeof name === 'string' ? name : String(place),
      value,
      ...(response_schema !== undefined && { response_schema }),
    }
  })
}

const PLAIN_SCHEMA = {
  type: 'object',
  properties: { response: { type: 'string' } },
  required: ['response'],
}
const MAX_MESSAGE = 8000

/** The form for a question, and whether the answer is its whole content, or only its field `response` (rule MCP-8). */
export function formOf({ value, response_schema }: AskedQuestion): Form & { is_whole: boolean } {
  const schema = flatSchema(response_schema)
  const message = messageOf(value).slice(0, MAX_MESSAGE)
  return { message, requestedSchema: schema ?? PLAIN_SCHEMA, is_whole: schema !== undefined }
}

/** The answer in the content of a form. */
export function answerOf(content: JsonValue | undefined, is_whole: boolean): JsonValue {
  if (!isObject(content)) return null
  return is_whole ? content : (content['response'] ?? null)
}

function messageOf(value: JsonValue): string {
  if (typeof value === 'string') return value
  const named = isObject(value)
    ? [value['question'], value['message'], value['prompt'], value['description']]
    : []
  const text = named.find((one) => typeof one === 'string' && one !== '')
  return typeof text === 'string' ? text : JSON.stringify(value)
}

/** A schema that clients can show as a form: fields of texts, numbers and choices. Undefined for any other. */
function flatSchema(schema: JsonValue | undefined): JsonObject | undefined {
  if (!isObject(schema) || schema['type'] !== 'object') return undefined
  const { properties, required } = schema
  if (!isObject(properties) || !Object.values(properties).every(isField)) return undefined
  return { type: 'object', properties, ...(Array.isArray(required) && { required }) }
}

const FIELDS: ReadonlySet<JsonValue | undefined> = new Set(['string', 'number', 'integer', 'boolean'])

function isField(property: JsonValue | undefined): boolean {
  return isObject(property) && FIELDS.has(property['type'])
}
