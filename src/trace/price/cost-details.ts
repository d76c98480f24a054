import type { Decimal } from './decimal.ts'

/** The parts of one side's cost by detail key; together they are the cost. */
export type CostDetails = Record<string, Decimal>

/** The key of tokens that have no detail, or a detail without a price of its own. */
export const BASE = 'base'

/**
 * Parts that a client sent, with the rest of the cost as one more part. Empty if none was sent, or if the parts exceed
 * the cost: then they cannot be parts of it.
 */
export function completeDetails(cost: Decimal | undefined, sent: Readonly<CostDetails>): CostDetails {
  const parts = Object.values(sent)
  if (cost === undefined || parts.length === 0) return {}
  const rest = cost - sumOf(sent)
  if (rest < 0n) return {}
  return rest === 0n ? { ...sent } : { ...sent, [BASE]: (sent[BASE] ?? 0n) + rest }
}

/** The sum of the parts. */
export function sumOf(details: Readonly<CostDetails>): Decimal {
  return Object.values(details).reduce((sum, part) => sum + part, 0n)
}
