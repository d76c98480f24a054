import type { Accepted } from '../../ingest/ingester.ts'
import type { Headers } from '../api/route.ts'

/** The header of a response to an accepted request when a soft limit is reached (USAGE-15). */
export function usageWarning({ warnings }: Accepted): Headers {
  return warnings.length === 0 ? {} : { 'weir-usage-warning': warnings.join(' ') }
}
