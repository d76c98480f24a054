import { isObject, type JsonObject, type JsonValue, text } from '../../../src/schema/json.ts'
import type { ContentBlock } from '../../../src/schema/types.gen.ts'
import {
  mediaBlock,
  type MediaSource,
  reasoningBlock,
  textBlock,
} from '../../../src/trace/messages/messages.ts'
import type { PartReader, PartReaders } from '../part-reader.ts'

/** Content parts of OpenAI's chat and Responses APIs. */
export const openaiParts: PartReaders = [
  ['text', readText],
  ['input_text', readText],
  ['output_text', readText],
  ['summary_text', readReasoningText],
  ['reasoning_text', readReasoningText],
  ['refusal', (part) => refusalBlock(part.refusal)],
  ['image_url', (part) => named('image', urlSource(part.image_url), part)],
  ['audio_url', (part) => named('audio', urlSource(part.audio_url), part)],
  ['video_url', (part) => named('video', urlSource(part.video_url), part)],
  ['input_image', (part) => named('image', { ...urlSource(part.image_url), id: part.file_id }, part)],
  ['input_file', (part) => openaiFile(part)],
  ['input_audio', readAudio],
  ['output_audio', readAudio],
]

/** A refusal as a marked text block; undefined if there is none. */
export function refusalBlock(value: unknown): ContentBlock | undefined {
  if (typeof value !== 'string') return undefined
  return { type: 'text', text: value, extras: { refusal: true } }
}

/** A file given as `file_data` (data URL or base64), `file_id` or `file_url`. */
export function openaiFile(file: JsonObject): ContentBlock | undefined {
  return named('file', { base64: file.file_data, url: file.file_url, id: file.file_id }, file)
}

/** Reads a text part. A part that fits the canonical block is returned as the same object, with all its fields. */
function readText(part: JsonObject): ContentBlock | undefined {
  const { text: value, annotations, extras } = part
  if (typeof value !== 'string') {
    return isObject(value) && typeof value.value === 'string' ? textBlock(value.value) : undefined
  }
  if (part.thought === true) return reasoningBlock(value)
  const fits =
    (annotations === undefined || (Array.isArray(annotations) && annotations.every(isObject))) &&
    (extras === undefined || isObject(extras))
  if (fits && part.type === 'text') return part as unknown as ContentBlock
  const block = textBlock(value)
  if (fits && Array.isArray(annotations) && annotations.length > 0) block.annotations = annotations
  return block
}

function readReasoningText(part: JsonObject): ReturnType<PartReader> {
  return typeof part.text === 'string' ? reasoningBlock(part.text) : undefined
}

/** Sound with its transcript. The Realtime API usually sends the transcript alone. */
function readAudio(part: JsonObject): ContentBlock | undefined {
  const audio = isObject(part.input_audio) ? part.input_audio : part
  const format = text(audio.format)
  const block = mediaBlock('audio', {
    base64: audio.data ?? part.audio,
    mime_type: format && `audio/${format}`,
  })
  const transcript = text(part.transcript)
  if (block === undefined) return transcript === undefined ? undefined : textBlock(transcript)
  if (transcript !== undefined) block.transcript = transcript
  return block
}

function urlSource(value: JsonValue | undefined): MediaSource {
  return isObject(value) ? { url: value.url } : { url: value }
}

function named(
  kind: 'image' | 'file' | 'audio' | 'video',
  source: MediaSource,
  part: JsonObject,
): ContentBlock | undefined {
  const block = mediaBlock(kind, source)
  const filename = text(part.filename)
  if (block !== undefined && filename !== undefined) block.filename = filename
  return block
}
