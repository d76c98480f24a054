import { AppError } from '../../../base/errors.ts'
import type { ItemText, LargeItems } from '../../../runs/items/large-items.ts'
import { isObject, type JsonObject } from '../../../schema/json.ts'

/** Semantic search of a deployment: `store.index` of its langgraph.json. */
export interface ItemIndex {
  /** Returns one vector for each text, all of the same length. */
  embed(texts: readonly string[]): Promise<readonly (readonly number[])[]>
  /** Paths of the fields to embed: `$` for the whole value, `a.b`, `list[*].text`, `list[0]`, `list[-1]`. */
  fields: readonly string[]
  /** Extracts the texts of large values outside of this thread. Default: in this thread. */
  large?: Pick<LargeItems, 'texts'>
}

/**
 * Maximum characters of all texts of one item. These texts are sent together to the process that computes embeddings.
 */
const MAX_TEXT_CHARS = 4 << 20

function textOf(value: unknown): string[] {
  if (value === undefined || value === null) return []
  return [typeof value === 'object' ? JSON.stringify(value, null, 2) : String(value)]
}

function valuesAt(value: unknown, steps: readonly string[]): unknown[] {
  const [step, ...rest] = steps
  if (step === undefined) return [value]
  if (step === '*') {
    const items = Array.isArray(value) ? value : isObject(value) ? Object.values(value) : []
    return items.flatMap((item) => valuesAt(item, rest))
  }
  if (Array.isArray(value)) {
    const index = Number(step)
    return Number.isInteger(index) ? valuesAt(value.at(index), rest) : []
  }
  return isObject(value) && Object.hasOwn(value, step) ? valuesAt(value[step], rest) : []
}

export function textsAt(value: JsonObject, path: string): string[] {
  if (path === '$' || path === '') return textOf(value)
  const steps = path.replaceAll('[', '.').replaceAll(']', '').split('.')
  return valuesAt(
    value,
    steps.filter((step) => step !== ''),
  ).flatMap(textOf)
}

/**
 * The texts that are embedded for an item, and their places.
 * @throws AppError body_too_large when they are too long to be embedded
 */
export function itemTexts(value: JsonObject, paths: readonly string[]): ItemText[] {
  const texts = paths.flatMap((path) =>
    textsAt(value, path).map((text, i) => ({ path: `${path} ${i}`, text })),
  )
  if (texts.reduce((sum, { text }) => sum + text.length, 0) <= MAX_TEXT_CHARS) return texts
  throw new AppError('body_too_large', {
    message:
      'The texts of an item that are embedded may have 4 MiB. Name smaller fields in "index", or set it to false.',
  })
}

/** A vector as text: base64 of its values as 32-bit floats. */
export function encodeVector(vector: readonly number[]): string {
  return Buffer.from(Float32Array.from(vector).buffer).toString('base64')
}

/** Decodes the text of `encodeVector`. */
export function decodeVector(text: string): Float32Array {
  const bytes = Uint8Array.from(Buffer.from(text, 'base64'))
  return new Float32Array(bytes.buffer)
}

/** Cosine similarity, between -1 and 1; 0 if one of the vectors is zero. */
export function cosine(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let [dot, squareA, squareB] = [0, 0, 0]
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    const [x, y] = [a[i] ?? 0, b[i] ?? 0]
    dot += x * y
    squareA += x * x
    squareB += y * y
  }
  const size = Math.sqrt(squareA) * Math.sqrt(squareB)
  return size === 0 ? 0 : dot / size
}
