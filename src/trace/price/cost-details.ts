import type { Decimal } from './decimal.ts'

/** The parts of one side's cost by detail key; their sum is the cost. */
export type CostDetails = Record<string, Decimal>

/** The key of tokens without a detail, or with a detail that has no separate price. */
export const BASE = 'base'

/**
 * Parts that a client sent, and the rest of the cost as a further part. Empty if none was sent, or their sum exceeds
 * the cost.
 */
export function completeDetails(cost: Decimal | undefined, sent: Readonly<CostDetails>): CostDetails {
  if (cost === undefined || Object.keys(sent).length === 0) return {}
  const rest = cost - sumOf(sent)
  if (rest < 0n) return {}
  return rest === 0n ? { ...sent } : { ...sent, [BASE]: (sent[BASE] ?? 0n) + rest }
}

export function sumOf(details: Readonly<CostDetails>): Decimal {
  return Object.values(details).reduce((sum, part) => sum + part, 0n)
}
