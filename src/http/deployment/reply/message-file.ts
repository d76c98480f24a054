import { isObject, type JsonObject, type JsonValue } from '../../../schema/json.ts'

/** A file in the content of a message: its bytes in base64, or its address, which is not fetched. */
interface MessageFile {
  kind: 'image' | 'audio' | 'video' | 'file'
  content: { base64: string } | { url: string }
  mime_type: string | undefined
  name: string | undefined
}

const KINDS: Readonly<Record<string, MessageFile['kind']>> = {
  image: 'image',
  image_url: 'image',
  audio: 'audio',
  input_audio: 'audio',
  video: 'video',
  file: 'file',
  document: 'file',
}
const DATA_URL = /^data:([^;,]+)(?:;[^;,]+)*;base64,(.*)$/s

/**
 * The file of a block, in the forms of LangChain for Python and JavaScript, OpenAI (`image_url`, `input_audio`, `file`)
 * and Anthropic (`source`); undefined for any other block.
 */
export function messageFile(block: JsonObject): MessageFile | undefined {
  const { type, image_url } = block
  const kind = typeof type === 'string' && Object.hasOwn(KINDS, type) ? KINDS[type] : undefined
  if (kind === undefined) return undefined
  const inner = [block['source'], block['input_audio'], block['file'], block['audio']].find(isObject) ?? {}
  const address = text(block['url'], isObject(image_url) ? image_url['url'] : image_url, inner['url'])
  const sent = text(block['base64'], block['data'], inner['data'], inner['file_data'])
  const [, urlType, urlBytes] = DATA_URL.exec(sent ?? address ?? '') ?? []
  const base64 = urlBytes ?? sent
  const content = base64 !== undefined ? { base64 } : address !== undefined ? { url: address } : undefined
  if (content === undefined) return undefined
  const { extras, metadata } = block
  const named = [extras, metadata].find(isObject) ?? {}
  const format = typeof inner['format'] === 'string' ? `${kind}/${inner['format']}` : undefined
  return {
    kind,
    content,
    mime_type: text(block['mime_type'], block['mimeType'], inner['media_type'], urlType, format),
    name: text(block['filename'], named['filename'], named['name'], inner['filename']),
  }
}

/** The first text that is not empty. */
function text(...values: (JsonValue | undefined)[]): string | undefined {
  return values.find((value) => typeof value === 'string' && value !== '') as string | undefined
}
