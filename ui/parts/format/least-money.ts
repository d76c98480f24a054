import { exactMoney, shortMoney } from './numbers.ts'

/** All digits of an amount that leaves out some calls without a price: `≥ $0.0213`. */
export function leastMoney(value: string | null, unpriced: number): string {
  return unpriced > 0 && value !== null ? `≥ ${exactMoney(value)}` : exactMoney(value)
}

/** The same in three significant digits; `no price` if none of the calls has one. */
export function leastShort(value: string | null | undefined, unpriced: number): string {
  if (unpriced === 0) return shortMoney(value)
  return value === null || value === undefined ? 'no price' : `≥ ${shortMoney(value)}`
}
