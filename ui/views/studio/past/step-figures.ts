import type { TracedNode } from '../../../data/studio/step-traces.ts'
import { addDecimals } from '../../../parts/format/decimal.ts'
import { leastShort } from '../../../parts/format/least-money.ts'
import { countText, durationText } from '../../../parts/format/numbers.ts'

/** The figures of one step: its nodes ran side by side. */
export interface StepFigures {
  /** Microseconds from the start of the first node to the end of the last one; undefined while a node runs. */
  micros: number | undefined
  tokens: number | undefined
  cost: string | undefined
  /** Number of calls that have no price, which the cost leaves out. */
  unpriced: number
}

/** Undefined without an execution. */
export function figuresOf(nodes: readonly TracedNode[]): StepFigures | undefined {
  if (nodes.length === 0) return undefined
  const ends = nodes.map(({ end }) => end ?? Number.NaN)
  const span = Math.max(...ends) - Math.min(...nodes.map(({ start }) => start))
  const tokens = nodes.flatMap((node) => node.tokens ?? [])
  const costs = nodes.flatMap((node) => node.cost ?? [])
  return {
    micros: Number.isNaN(span) ? undefined : span * 1000,
    tokens: tokens.length === 0 ? undefined : tokens.reduce((sum, count) => sum + count, 0),
    cost: costs.length === 0 ? undefined : addDecimals(costs),
    unpriced: nodes.reduce((sum, node) => sum + node.unpriced, 0),
  }
}

/** `120 ms · 35 tokens · ≥ $0.00002`; what is not known is left out. */
export function stepFiguresText({ micros, tokens, cost, unpriced }: StepFigures): string {
  const parts = [
    // Times in traces are whole milliseconds.
    micros === undefined ? 'running' : micros === 0 ? '< 1 ms' : durationText(micros),
    tokens !== undefined && tokens > 0 && `${countText(tokens)} ${tokens === 1 ? 'token' : 'tokens'}`,
    (cost !== undefined || unpriced > 0) && leastShort(cost, unpriced),
  ]
  return parts.filter(Boolean).join(' · ')
}
