import { parseUuid } from '../../../base/ids.ts'
import { isObject, type JsonObject, type JsonValue } from '../../../schema/json.ts'
import { A2aFault } from './faults.ts'

/** A part as a client sent it, in the form of either version. */
type SentPart = { text: string } | { data: JsonObject } | { block: JsonObject }

/** A message that a client sent, checked. */
export interface Incoming {
  messageId: string
  role: 'human' | 'assistant'
  /** A uuid; undefined for a new context. */
  contextId: string | undefined
  taskId: string | undefined
  parts: SentPart[]
  context: JsonObject | undefined
}

/** @throws A2aFault invalid_params, content_type */
export function readIncoming({ message, context }: JsonObject): Incoming {
  if (!isObject(message)) throw invalid('params.message must be an object.')
  const { messageId, role, parts } = message
  if (typeof messageId !== 'string' || messageId === '') throw invalid('message.messageId must be a text.')
  const side = typeof role === 'string' && Object.hasOwn(ROLES, role) ? ROLES[role] : undefined
  if (side === undefined) throw invalid('message.role must be ROLE_USER or ROLE_AGENT (0.3: user or agent).')
  if (!Array.isArray(parts) || parts.length === 0) throw invalid('message.parts must have a part.')
  if (context !== undefined && context !== null && !isObject(context))
    throw invalid('params.context must be an object.')
  const contextId = given(message['contextId'], 'contextId')
  const uuid = contextId === undefined ? undefined : parseUuid(contextId)
  if (contextId !== undefined && uuid === undefined)
    throw invalid('message.contextId must be a UUID, or absent for a new context.')
  return {
    messageId,
    role: side,
    contextId: uuid,
    taskId: given(message['taskId'], 'taskId'),
    parts: parts.map(readPart),
    context: isObject(context) ? context : undefined,
  }
}

const ROLES: Readonly<Record<string, Incoming['role']>> = {
  user: 'human',
  agent: 'assistant',
  ROLE_USER: 'human',
  ROLE_AGENT: 'assistant',
}

/** An optional text; ProtoJSON may send an absent one as ''. */
function given(value: JsonValue | undefined, name: string): string | undefined {
  if (value === undefined || value === null || value === '') return undefined
  if (typeof value !== 'string') throw invalid(`message.${name} must be a text.`)
  return value
}

function invalid(message: string): A2aFault {
  return new A2aFault('invalid_params', message)
}

function readPart(part: JsonValue): SentPart {
  if (!isObject(part)) throw invalid('A part must be an object.')
  const { text, data, file, raw, url, mediaType, filename } = part
  const contents = [text, data, file, raw, url].filter((one) => one !== undefined && one !== null)
  if (contents.length > 1) throw invalid('A part must have exactly one of text, data, raw, url (0.3: file).')
  if (typeof text === 'string') return { text }
  if (isObject(data)) return { data }
  if (data !== undefined && data !== null) throw invalid('The data of a part must be an object.')
  if (isObject(file)) {
    const { bytes, uri, mimeType, name } = file
    return { block: fileBlock({ raw: bytes, url: uri, type: mimeType, name }) }
  }
  if (typeof raw === 'string' || typeof url === 'string')
    return { block: fileBlock({ raw, url, type: mediaType, name: filename }) }
  throw new A2aFault('content_type', 'Parts can be text, data and files.')
}

type Sent = JsonValue | undefined

/** The block of LangChain for a file. Its address is not fetched. */
function fileBlock({ raw, url, type, name }: { raw: Sent; url: Sent; type: Sent; name: Sent }): JsonObject {
  const isRaw = typeof raw === 'string'
  if (isRaw === (typeof url === 'string')) throw invalid('A file must have either its bytes or its address.')
  const [kind = ''] = typeof type === 'string' ? type.split('/') : []
  return {
    type: ['image', 'audio', 'video'].includes(kind) ? kind : 'file',
    ...(isRaw ? { base64: raw } : { url }),
    ...(typeof type === 'string' && type !== '' && { mime_type: type }),
    ...(typeof name === 'string' && name !== '' && { extras: { filename: name } }),
  }
}

/** The input of a run: data parts merged, and a message for each text, or one of blocks with files (rule A2A-5). */
export function inputOf({ parts, role, messageId }: Incoming): JsonObject {
  const data = dataOf(parts)
  const hasFiles = parts.some((part) => 'block' in part)
  const blocks = parts.flatMap((part): JsonObject[] => {
    if ('text' in part) return [{ type: 'text', text: part.text }]
    return 'block' in part ? [part.block] : []
  })
  if (blocks.length === 0) return data
  const contents = hasFiles ? [blocks] : blocks.map(({ text = '' }) => text)
  // A graph keeps only the last of several messages with the same id.
  const idOf = (place: number): string => (place === 0 ? messageId : `${messageId}:${place}`)
  return { ...data, messages: contents.map((content, place) => ({ role, content, id: idOf(place) })) }
}

/** Whether a part needs a graph with messages. */
export function hasContent({ parts }: Incoming): boolean {
  return parts.some((part) => !('data' in part))
}

/** The answer to an interrupt that the parts name; undefined if there is none. @throws A2aFault for several */
export function namedResume({ parts }: Incoming): JsonValue | undefined {
  const answers = parts.flatMap((part) =>
    'data' in part && 'resume' in part.data ? [part.data['resume']] : [],
  )
  if (answers.length > 1) throw invalid('Only one part may have data.resume.')
  return answers[0]
}

/** The answer to an interrupt: data.resume, else the text, else the data (rule A2A-8). */
export function resumeOf(incoming: Incoming): JsonValue {
  const named = namedResume(incoming)
  if (named !== undefined) return named
  const texts = incoming.parts.flatMap((part) => ('text' in part ? [part.text] : []))
  return texts.length > 0 ? texts.join('\n') : dataOf(incoming.parts)
}

function dataOf(parts: readonly SentPart[]): JsonObject {
  return Object.assign({}, ...parts.map((part) => ('data' in part ? part.data : {}))) as JsonObject
}
