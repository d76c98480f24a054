import fc from 'fast-check'
import { seededRandom } from '../seeded-random.ts'
import { type Counted, runWorld } from '../usage/world.ts'

/** Share of spans that are sent twice. */
const REPEATED = 0.3
/** Share of spans after which a batch ends. */
const ENDS_BATCH = 0.6

/** How spans are distributed at random over several processes, some of which end unexpectedly. */
export interface Scattering {
  seed: number
  processes: number
  deaths: number
}

export const scatterings: fc.Arbitrary<Scattering> = fc.record({
  seed: fc.integer(),
  processes: fc.integer({ min: 1, max: 3 }),
  deaths: fc.nat(2),
})

/** The traces that are counted when the spans arrive in one batch. */
export function runTogether<Span>(
  spans: readonly Span[],
  encode: (spans: readonly Span[]) => Uint8Array,
): Promise<Counted> {
  return runWorld({ seed: 1, processes: [[encode(spans)]], deaths: 0 })
}

/**
 * The traces that are counted when each span arrives once or twice, in any order, split into batches, distributed over
 * processes.
 */
export function runScattered<Span>(
  spans: readonly Span[],
  encode: (spans: readonly Span[]) => Uint8Array,
  { seed, processes, deaths }: Scattering,
): Promise<Counted> {
  const random = seededRandom(seed)
  const sent = spans
    .flatMap((span) => (random() < REPEATED ? [span, span] : [span]))
    .map((span) => ({ span, order: random() }))
    .toSorted((a, b) => a.order - b.order)
  const lists: Uint8Array[][] = Array.from({ length: processes }, () => [])
  const batch: Span[] = []
  for (const { span } of sent) {
    batch.push(span)
    if (random() < ENDS_BATCH) lists[Math.floor(random() * processes)]!.push(encode(batch.splice(0)))
  }
  if (batch.length > 0) lists[0]!.push(encode(batch))
  return runWorld({ seed, processes: lists, deaths })
}
