import type { Accepted } from '../ingest/ingester.ts'
import type { Headers } from './exchange.ts'

/** Says of an accepted request that a soft limit is reached (USAGE-15). */
export function usageWarning({ warnings }: Accepted): Headers {
  return warnings.length === 0 ? {} : { 'weir-usage-warning': warnings.join(' ') }
}
