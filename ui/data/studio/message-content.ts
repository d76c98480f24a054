import type { ReadMedia } from '../messages/media-block.ts'

/** `audio/mpeg` is `mp3` in messages, `audio/x-wav` is `wav`. */
function audioFormat(mime: string): string {
  const subtype = mime.slice(mime.indexOf('/') + 1).replace(/^x-/, '')
  return subtype === 'mpeg' ? 'mp3' : subtype
}

/** A file as a block in the form of OpenAI, which LangChain's chat models accept in Python and in JavaScript. */
function blockOf({ type, mime_type, base64 }: ReadMedia): Record<string, unknown> {
  const url = `data:${mime_type};base64,${base64}`
  if (type === 'image') return { type: 'image_url', image_url: { url } }
  if (type === 'audio')
    return { type: 'input_audio', input_audio: { data: base64, format: audioFormat(mime_type) } }
  return { type: 'file', file: { filename: 'file', file_data: url } }
}

/** The content of a message of a user: its text alone, or with files. */
export function messageContent(
  text: string,
  files: readonly ReadMedia[],
): string | Record<string, unknown>[] {
  if (files.length === 0) return text
  return [...(text === '' ? [] : [{ type: 'text', text }]), ...files.map(blockOf)]
}

/** The text of a block that is reasoning, in the forms of the providers; undefined for other blocks. */
export function reasoningText(block: Readonly<Record<string, unknown>>): string | undefined {
  const { type, reasoning, thinking, text, summary } = block
  if (type !== 'reasoning' && type !== 'thinking') return undefined
  const found = [reasoning, thinking, text].find((one) => typeof one === 'string')
  if (typeof found === 'string') return found
  const parts = Array.isArray(summary) ? (summary as { text?: unknown }[]) : []
  return parts.flatMap((part) => (typeof part.text === 'string' ? part.text : [])).join('\n\n')
}
