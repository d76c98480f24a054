import type { Issue } from '../../schema/issue.ts'
import { joinPath } from '../../schema/issue.ts'
import { type JsonValue, isObject } from '../../schema/json.ts'
import type { Hints, Normalized, Processor, Side } from '../messages/processor.ts'

/** The messages of one side (inputs or outputs) in canonical form, and the processor that made them. */
export interface ChosenFormat extends Normalized {
  /** Name of the processor. */
  format: string
  /** The value that the processor read: the side as sent, or what is inside a client's wrapper (see WRAPPERS). */
  value: JsonValue
}

/** Keys under which clients wrap a single value. */
const WRAPPERS: Record<Side, readonly string[]> = {
  inputs: ['args', 'input', 'inputs'],
  outputs: ['output', 'outputs'],
}

/** The side as sent, then the value inside each wrapper, outermost first. */
export function unwrap(side: Side, value: JsonValue): { value: JsonValue; path: string }[] {
  const found = [{ value, path: '' }]
  for (let depth = 0; depth < 3; depth++) {
    const last = found.at(-1)!
    if (!isObject(last.value)) break
    const outer = last.value
    const key = WRAPPERS[side].find((name) => outer[name] !== undefined)
    if (key === undefined) break
    const inner = outer[key]!
    if (key === 'args') {
      if (!Array.isArray(inner) || inner.length === 0) break
      found.push({ value: inner[0]!, path: `${joinPath(last.path, 'args')}[0]` })
    } else found.push({ value: inner, path: joinPath(last.path, key) })
  }
  return found
}

/** The content of an object in which clients wrap values, if the object has no other fields. */
export function unwrappedValue(side: Side, value: JsonValue): JsonValue {
  let unwrapped = value
  for (const { value: inner } of unwrap(side, value).slice(1)) {
    if (!isObject(unwrapped) || Object.keys(unwrapped).length > 1) break
    if (Array.isArray(unwrapped['args']) && unwrapped['args'].length > 1) break
    unwrapped = inner
  }
  return unwrapped
}

/** The text of outputs that consist of text only, or of a list of streamed pieces of text. */
export function plainText(outputs: JsonValue | undefined): string | undefined {
  const unwrapped = outputs === undefined ? undefined : unwrappedValue('outputs', outputs)
  const pieces = Array.isArray(unwrapped) ? unwrapped : [unwrapped]
  if (pieces.length === 0 || !pieces.every((piece) => typeof piece === 'string')) return undefined
  return pieces.join('') || undefined
}

/**
 * Finds the processor with the highest match for a side or for a value inside its wrappers. Of equal matches, the one
 * on the outermost value counts, then the first processor of the list. Undefined if no processor recognises the side.
 * Only a user's processor can throw: it then counts as no match, and an issue names it.
 */
export function chooseFormat(
  side: Side,
  value: JsonValue,
  hints: Hints,
  processors: readonly Processor[],
  issues: Issue[],
): ChosenFormat | undefined {
  let best: { processor: Processor; value: JsonValue; path: string; match: number } | undefined
  search: for (const candidate of unwrap(side, value)) {
    for (const processor of processors) {
      const match = matchOf(processor, side, candidate.value, hints, issues)
      if (match > (best?.match ?? 0)) best = { processor, ...candidate, match }
      if (match === 2) break search
    }
  }
  if (!best) return undefined
  const { processor, path } = best
  let normalized: Normalized | undefined
  try {
    normalized = processor.normalize(side, best.value, hints)
  } catch (error) {
    issues.push(processorFailed(processor, side, error))
    return undefined
  }
  if (normalized === undefined) return undefined
  const base = joinPath(side, path)
  return {
    ...normalized,
    issues: normalized.issues.map((issue) => ({ ...issue, path: joinPath(base, issue.path) })),
    format: processor.name,
    value: best.value,
  }
}

function matchOf(processor: Processor, side: Side, value: JsonValue, hints: Hints, issues: Issue[]): number {
  try {
    return processor.match(side, value, hints)
  } catch (error) {
    issues.push(processorFailed(processor, side, error))
    return 0
  }
}

function processorFailed({ name }: Processor, side: Side, error: unknown): Issue {
  return {
    code: 'processor_failed',
    severity: 'warning',
    path: side,
    message: `Processor ${name} threw: ${error instanceof Error ? error.message.slice(0, 200) : 'unknown error'}.`,
    fix: 'Processors must not throw; return 0 from match for what they do not know.',
  }
}
