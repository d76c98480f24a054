import { AppError } from '../../../../base/errors.ts'
import type { RouteReply } from '../../../api/route.ts'

/** Codes with which ingest refuses a request for other reasons than its content. */
export const INGEST_REFUSALS = [
  'overloaded',
  'log_full',
  'log_unavailable',
  'disk_full',
  'disk_unwritable',
  'rate_limited',
  'usage_limit_reached',
] as const

/** Placeholder for handlers of ingest routes: the ingest handler takes these requests before any route is tried. */
export async function neverReached(): Promise<RouteReply<never>> {
  throw new AppError('internal', { message: 'An ingest route reached the router.' })
}
