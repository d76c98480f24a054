import { createHash } from 'node:crypto'
import { isObject, type JsonObject, text } from '../../../schema/json.ts'
import type { Blob } from '../../decode/decoded.ts'
import { parseJson } from '../../json/json-text.ts'

/** The attribute that holds attachments. */
export const ATTACHMENTS = 'langsmith.attachments'
const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/

/**
 * Reads the attachments in the attribute ATTACHMENTS (JSON `[{name, content, mime_type}]`, content in base64): their
 * bytes are added to `blobs`, equal bytes only once, instead of being stored in the span (D-18). Returns the JSON about
 * them, in order of their names. Returns '', and keeps the attribute, if there are none or one is unreadable.
 */
export function takeAttachments(attributes: JsonObject, blobs: Map<string, Blob>): string {
  const sent = attributes[ATTACHMENTS]
  if (typeof sent !== 'string' || sent === '') return ''
  const list = parseJson(sent)?.value
  if (!Array.isArray(list)) return ''
  const found: [name: string, mimeType: string, blob: Blob][] = []
  for (const item of list) {
    const name = isObject(item) ? text(item['name']) : undefined
    const content = isObject(item) ? item['content'] : undefined
    if (name === undefined || !isObject(item) || typeof content !== 'string' || !BASE64.test(content))
      return ''
    // A copy, because small buffers share memory, and this one is transferred to another thread.
    const bytes = new Uint8Array(Buffer.from(content, 'base64'))
    const sha256 = createHash('sha256').update(bytes).digest('hex')
    found.push([name, text(item['mime_type']) ?? 'application/octet-stream', { sha256, bytes }])
  }
  for (const [, , blob] of found) blobs.set(blob.sha256, blob)
  const named = found
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, mime_type, { sha256, bytes }]) => [name, { mime_type, size: bytes.length, sha256 }] as const)
  return JSON.stringify(Object.fromEntries(named))
}
