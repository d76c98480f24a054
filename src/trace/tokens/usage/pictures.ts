import { type JsonObject, isObject } from '../../../schema/json.ts'
import type { UsageReading } from './read-usage.ts'

/** Whether an answer consists of pictures: of OpenAI's images or the AI SDK's, or the event that ends their stream. */
export function isPicture({ data, images, b64_json }: JsonObject): boolean {
  if (b64_json !== undefined) return true
  const list = data ?? images
  const first = Array.isArray(list) ? list[0] : undefined
  return isObject(first) && PICTURE_KEYS.some((key) => first[key] !== undefined)
}

const PICTURE_KEYS = ['b64_json', 'base64', 'url', 'revised_prompt'] as const

/** The output of pictures is of pictures, unless it is told in parts. */
export function addPictureTokens({ value }: UsageReading): void {
  if (value['output_tokens'] !== undefined && value['output_token_details'] === undefined)
    value['output_token_details'] = { image: value['output_tokens'] }
}
