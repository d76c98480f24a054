import { parseTyped } from '../../../api/typed-json.ts'
import type { ReadMedia } from '../../messages/media-block.ts'
import { messageContent } from '../message-content.ts'
import { alternativesOf, type Choice, choicesOf, isSchema, jsonOf, type Schema } from './schema-choices.ts'

/** A field of a form that a JSON Schema describes. */
export interface InputField {
  name: string
  kind: 'text' | 'number' | 'boolean' | 'choice' | 'messages' | 'json'
  choices: Choice[]
  title: string
}

function kindOf(name: string, alternatives: readonly Schema[]): InputField['kind'] {
  if (name === 'messages') return 'messages'
  const types = alternatives.flatMap(({ type }) => (Array.isArray(type) ? (type as unknown[]) : [type]))
  const [type, ...others] = new Set(types.filter((one) => one !== 'null'))
  if (others.length > 0) return 'json'
  if (type === 'string') return 'text'
  if (type === 'boolean') return 'boolean'
  return type === 'number' || type === 'integer' ? 'number' : 'json'
}

function fieldOf(root: Schema, name: string, schema: unknown): InputField {
  const alternatives = alternativesOf(root, schema) ?? []
  const choices = choicesOf(alternatives)
  const titles = [schema, ...alternatives].map((one) => (isSchema(one) ? one['description'] : undefined))
  return {
    name,
    kind: choices === undefined ? kindOf(name, alternatives) : 'choice',
    choices: choices ?? [],
    title: titles.find((title) => typeof title === 'string') ?? '',
  }
}

/** The fields of an input; undefined when the schema does not describe an object. */
export function inputFields(schema: unknown): InputField[] | undefined {
  if (!isSchema(schema)) return undefined
  const [whole, ...others] = alternativesOf(schema, schema) ?? []
  const properties = others.length === 0 ? whole?.['properties'] : undefined
  if (!isSchema(properties)) return undefined
  return Object.entries(properties).map(([name, field]) => fieldOf(schema, name, field))
}

/**
 * The input of a filled form; empty fields are left out. `files` are those of the field of messages. @throws JsonFault
 */
export function inputOf(
  fields: readonly InputField[],
  typed: (name: string) => string,
  files: readonly ReadMedia[] = [],
): Record<string, unknown> {
  const input: Record<string, unknown> = {}
  for (const { name, kind, choices } of fields) {
    const text = typed(name)
    if (text === '' && !(kind === 'messages' && files.length > 0)) continue
    if (kind === 'text') input[name] = text
    else if (kind === 'choice') input[name] = choices.find((one) => one.text === text)?.value
    else if (kind === 'messages') input[name] = messagesOf(text, files, name)
    else input[name] = parseTyped(text, name)
  }
  return input
}

/**
 * The messages of a field. A text that begins with `[` is a JSON list of messages, and files become one more message of
 * it. Any other text is a single message, which has the files.
 * @throws JsonFault
 */
function messagesOf(text: string, files: readonly ReadMedia[], name: string): unknown {
  if (!text.trimStart().startsWith('[')) return [{ type: 'human', content: messageContent(text, files) }]
  const messages = parseTyped(text, name)
  if (files.length === 0 || !Array.isArray(messages)) return messages
  return [...(messages as unknown[]), { type: 'human', content: messageContent('', files) }]
}

/** The text with which a field has this value; undefined if no text gives it. */
function textOf({ kind, choices }: InputField, value: unknown): string | undefined {
  if (kind === 'text') return typeof value === 'string' ? value : undefined
  if (kind === 'choice') return choices.find((one) => jsonOf(one.value) === jsonOf(value))?.text
  if (kind === 'boolean') return typeof value === 'boolean' ? String(value) : undefined
  const [message, ...others] = kind === 'messages' && Array.isArray(value) ? (value as unknown[]) : []
  const { type, content, ...rest } = (message ?? {}) as Schema
  const isOneText = others.length === 0 && type === 'human' && Object.keys(rest).length === 0
  if (isOneText && typeof content === 'string' && !content.trimStart().startsWith('[')) return content
  return JSON.stringify(value, null, 2)
}

/**
 * The texts of the fields with which the form gives this input, by name. Undefined if the form cannot give it; it is
 * then edited as JSON.
 */
export function textsOfInput(
  fields: readonly InputField[],
  input: Readonly<Record<string, unknown>>,
): Map<string, string> | undefined {
  const texts = new Map<string, string>()
  for (const [name, value] of Object.entries(input)) {
    const field = fields.find((one) => one.name === name)
    const text = field && textOf(field, value)
    // An empty field is left out of the input, so its text cannot give this value.
    if (text === undefined || text === '') return undefined
    texts.set(name, text)
  }
  return texts
}
