import type { Decimal } from '../decimal.ts'

/** The parts of one side's cost by detail key; together they are the cost. */
export type CostDetails = Record<string, Decimal>

/** The key of what has no price of its own, or was not told apart. */
export const BASE = 'base'

/**
 * Parts that a client sent, completed by what they leave of the cost. None where nothing was sent, or where they
 * exceed the cost: then they are of something else.
 */
export function completeDetails(cost: Decimal | undefined, sent: Readonly<CostDetails>): CostDetails {
  const parts = Object.values(sent)
  if (cost === undefined || parts.length === 0) return {}
  const rest = cost - sumOf(sent)
  if (rest < 0n) return {}
  return rest === 0n ? { ...sent } : { ...sent, [BASE]: (sent[BASE] ?? 0n) + rest }
}

/** What the parts come to. */
export function sumOf(details: Readonly<CostDetails>): Decimal {
  return Object.values(details).reduce((sum, part) => sum + part, 0n)
}
