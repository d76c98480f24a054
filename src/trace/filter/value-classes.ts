/** Lower bounds of the classes of latencies, in milliseconds, and of tokens; the last class has no upper bound. */
export const VALUE_CLASSES = {
  latency: [0, 100, 300, 1000, 3000, 10_000, 30_000, 100_000],
  tokens: [0, 100, 1000, 10_000, 100_000, 1_000_000],
} as const

const FIELDS = { latency: 'latency', tokens: 'total_tokens' } as const

/** The class of a field with this lower bound, as people read it, and as a filter. */
export function classTerms(
  field: keyof typeof VALUE_CLASSES,
  lower: number,
): { value: string; filter: string } {
  const bounds: readonly number[] = VALUE_CLASSES[field]
  const upper = bounds[bounds.indexOf(lower) + 1]
  const text = (bound: number): string => (field === 'latency' ? durationText(bound) : String(bound))
  const literal = (bound: number): string => (field === 'latency' ? `"${bound}ms"` : String(bound))
  const from = `gte(${FIELDS[field]}, ${literal(lower)})`
  if (upper === undefined) return { value: `at least ${text(lower)}`, filter: from }
  const below = `lt(${FIELDS[field]}, ${literal(upper)})`
  if (lower === 0) return { value: `below ${text(upper)}`, filter: below }
  return { value: `${text(lower)} to ${text(upper)}`, filter: `and(${from}, ${below})` }
}

function durationText(milliseconds: number): string {
  return milliseconds < 1000 ? `${milliseconds} ms` : `${milliseconds / 1000} s`
}
