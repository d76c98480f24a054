import type { Decimal } from './decimal.ts'

/** Parts of one side's cost by detail key. Computed parts add up to the cost; a client may send only some. */
export type CostDetails = Record<string, Decimal>

/** The key of tokens without a detail, or with a detail that has no separate price. */
export const BASE = 'base'

/** Whether parts can be those of a cost: all of it if they were computed, at most all of it if a client sent them. */
export function areParts(details: Readonly<CostDetails>, cost: Decimal | undefined): boolean {
  return cost !== undefined && sumOf(details) <= cost
}

export function sumOf(details: Readonly<CostDetails>): Decimal {
  return Object.values(details).reduce((sum, part) => sum + part, 0n)
}
