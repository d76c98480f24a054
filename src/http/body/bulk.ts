import { AppError } from '../../base/errors.ts'
import { isObject, type JsonObject, type JsonValue } from '../../schema/json.ts'
import { rawJson } from '../../schema/raw-json.ts'
import type { SchemaName } from '../../schema/registry.ts'
import { MAX_JSON_BODY_BYTES } from './json.ts'

/**
 * The places at which bodies may have more than a megabyte. Their values are stored and passed on as they are. `*`
 * stands for every element of a list.
 */
const BULK: Partial<Record<SchemaName, readonly (readonly string[])[]>> = {
  'run-create': [['input'], ['command']],
  'run-batch': [
    ['*', 'input'],
    ['*', 'command'],
  ],
  'thread-create': [['supersteps', '*']],
  'thread-state-update': [['values']],
  'store-item-write': [['value']],
  'playground-run-create': [
    ['messages', '*', 'content', '*', 'text'],
    ['messages', '*', 'content', '*', 'base64'],
    ['messages', '*', 'content', '*', 'url'],
  ],
}

/** Length from which a value is taken out of the body. */
const MIN_CHARS = 64 << 10
/** The length used instead when the rest of the body would exceed a megabyte because of many values of medium size. */
const MIN_CHARS_OF_MANY = 1 << 10

/** Whether bodies of the schema may have more than a megabyte. */
export function mayBeLarge(schema: SchemaName): boolean {
  return BULK[schema] !== undefined
}

/** A body and the large values taken out of it, so that both can be sent to another thread without scanning them. */
export interface LeanBody {
  /** The body with null in place of each large value. */
  body: JsonValue
  large: { path: (string | number)[]; text: string }[]
}

/** Takes the large values out of a body. @throws AppError body_too_large when the rest exceeds a megabyte */
export function takeBulk(schema: SchemaName, body: JsonValue): LeanBody {
  const large: LeanBody['large'] = []
  for (const minChars of [MIN_CHARS, MIN_CHARS_OF_MANY]) {
    for (const pattern of BULK[schema] ?? []) takeAt(body, pattern, [], { large, minChars })
    if (JSON.stringify(body).length <= MAX_JSON_BODY_BYTES) return { body, large }
  }
  const named = (BULK[schema] ?? []).map((pattern) => pattern.filter((step) => step !== '*').join('.'))
  throw new AppError('body_too_large', {
    message: `Besides ${named.join(' and ')}, the body may have 1 MiB.`,
  })
}

/** The body with its large values as raw JSON. */
export function putBulk({ body, large }: LeanBody): JsonValue {
  let whole = body
  for (const { path, text } of large) {
    const last = path.at(-1)
    let holder: JsonValue | undefined = whole
    for (const step of path.slice(0, -1)) holder = (holder as JsonObject | undefined)?.[step]
    if (last === undefined) whole = rawJson(text)
    else (holder as JsonObject)[last] = rawJson(text)
  }
  return whole
}

function takeAt(
  value: JsonValue,
  [step, ...rest]: readonly string[],
  path: readonly (string | number)[],
  taken: { large: LeanBody['large']; minChars: number },
): void {
  if (step === undefined || !(isObject(value) || Array.isArray(value))) return
  const keys = step === '*' && Array.isArray(value) ? [...value.keys()] : [step]
  const holder = value as Record<string | number, JsonValue>
  for (const key of keys) {
    if (!Object.hasOwn(holder, key)) continue
    const child = holder[key] ?? null
    if (rest.length > 0) takeAt(child, rest, [...path, key], taken)
    else if (typeof child === 'object' || typeof child === 'string') {
      const text = JSON.stringify(child)
      if (text.length < taken.minChars) continue
      holder[key] = null
      taken.large.push({ path: [...path, key], text })
    }
  }
}
