import { AppError } from '../../base/errors.ts'
import { isObject, type JsonObject, type JsonValue } from '../../schema/json.ts'

type Step = string | number
/** The aliases, each with its path as a list of steps. */
export type ExtractPaths = readonly (readonly [alias: string, path: readonly Step[]])[]

const STEP = /\.?([^.[\]]+)|\[(-?\d+)\]/gy

/**
 * Parses the `extract` of a search: alias → path such as `values.messages[-1].content`; a negative index counts from the
 * end. A path without a value gives null.
 * @throws AppError invalid_request for a path that cannot be read
 */
export function readPaths(extract: Readonly<Record<string, string | undefined>>): ExtractPaths {
  return Object.entries(extract).map(([alias, path = '']) => [alias, stepsOf(path)] as const)
}

function stepsOf(path: string): Step[] {
  const steps: Step[] = []
  let end = 0
  for (const [text, name, index] of path.matchAll(STEP)) {
    steps.push(name ?? Number(index))
    end += text.length
  }
  if (end === path.length && steps.length > 0) return steps
  throw new AppError('invalid_request', { message: `extract: "${path}" is not a path.` })
}

export function extracted(record: JsonObject, paths: ExtractPaths): JsonObject {
  return Object.fromEntries(paths.map(([alias, path]) => [alias, valueAt(record, path)]))
}

function valueAt(record: JsonObject, path: readonly Step[]): JsonValue {
  let value: JsonValue = record
  for (const step of path) {
    let next: JsonValue | undefined
    if (Array.isArray(value) && typeof step === 'number') next = value.at(step)
    else if (isObject(value) && Object.hasOwn(value, step)) next = value[step]
    if (next === undefined) return null
    value = next
  }
  return value
}
