import { STATUS_CODES } from 'node:http'
import { ClickHouseError, parseError } from '@clickhouse/client'
import { AppError } from '../../base/errors.ts'
import { isFullDisk } from './embedded/exception.ts'

/**
 * Exception codes of ClickHouse after which the same statement may succeed later: overload, unreachable nodes, disks.
 */
const PASSING = new Map([
  [159, 'TIMEOUT_EXCEEDED'],
  [160, 'TOO_SLOW'],
  [198, 'DNS_ERROR'],
  [201, 'QUOTA_EXCEEDED'],
  [202, 'TOO_MANY_SIMULTANEOUS_QUERIES'],
  [203, 'NO_FREE_CONNECTION'],
  [209, 'SOCKET_TIMEOUT'],
  [210, 'NETWORK_ERROR'],
  [225, 'NO_ZOOKEEPER'],
  [236, 'ABORTED'],
  [241, 'MEMORY_LIMIT_EXCEEDED'],
  [242, 'TABLE_IS_READ_ONLY'],
  [252, 'TOO_MANY_PARTS'],
  [254, 'NO_ACTIVE_REPLICAS'],
  [279, 'ALL_CONNECTION_TRIES_FAILED'],
  [285, 'TOO_FEW_LIVE_REPLICAS'],
  [286, 'UNSATISFIED_QUORUM_FOR_PREVIOUS_WRITE'],
  [289, 'REPLICA_IS_NOT_IN_QUORUM'],
  [319, 'UNKNOWN_STATUS_OF_INSERT'],
  [394, 'QUERY_WAS_CANCELLED'],
  [425, 'SYSTEM_ERROR'],
  [439, 'CANNOT_SCHEDULE_TASK'],
  [473, 'DEADLOCK_AVOIDED'],
  [499, 'S3_ERROR'],
  [574, 'DISTRIBUTED_TOO_MANY_PENDING_BYTES'],
  [735, 'QUERY_WAS_CANCELLED_BY_CLIENT'],
  [745, 'SERVER_OVERLOADED'],
  [999, 'KEEPER_EXCEPTION'],
])

const NOT_ENOUGH_SPACE = 243
/** The operating system's message for a full disk; ClickHouse has it in exceptions of several codes. */
const NO_SPACE = /No space left on device|errno: 28\b/

/** The exception code in an error of ClickHouse, undefined for errors of the connection. */
export function clickHouseCode(error: unknown): number | undefined {
  return error instanceof ClickHouseError ? Number(error.code) : undefined
}

/** Error codes of the operating system for a connection that the other side has closed. */
const RESET = new Set<unknown>(['ECONNRESET', 'EPIPE'])

/** Whether an error of the ClickHouse client means that the server closed the connection. */
export function isReset(error: unknown): boolean {
  return RESET.has((error as NodeJS.ErrnoException | undefined)?.code)
}

/** Statuses of proxies after which the same request may succeed later: a timeout, an early request, too many requests. */
const PASSING_STATUS = new Set([408, 425, 429])

/** A response other than 2xx. */
export interface RefusedAnswer {
  readonly status: number
  /** The header X-ClickHouse-Exception-Code; undefined for other responses than those of ClickHouse. */
  readonly exception: string | undefined
  /** The beginning of the body. */
  readonly text: string
}

/**
 * The error of a refused request: a ClickHouseError for an exception of ClickHouse, otherwise `store_misconfigured`
 * for a status by which a proxy or another server refuses the request whenever it is sent.
 */
export function refusalError({ status, exception, text }: RefusedAnswer): Error {
  const error = parseError(text)
  const isLasting = status >= 300 && status < 500 && !PASSING_STATUS.has(status)
  if (error instanceof ClickHouseError || exception !== undefined || !isLasting) return error
  const answer = `${status} ${STATUS_CODES[status] ?? ''}`.trim()
  return new AppError('store_misconfigured', {
    message: `Requests to CLICKHOUSE_URL are refused with ${answer}, by something that is not ClickHouse. Check the address, and the limits of a proxy before it: requests have up to 64 MB, and lines of 4 KB.`,
    cause: error,
  })
}

/**
 * Converts an error of the ClickHouse client to an AppError, with the error as its cause. `store_unavailable`
 * (retryable): the store is down, overloaded or answers without a ClickHouse error. `disk_full` (retryable): its disk
 * is full. In both cases the statement may have taken effect. `internal`: ClickHouse refused the statement.
 */
export function toStoreError(error: unknown): AppError {
  if (error instanceof AppError) return error
  const code = clickHouseCode(error)
  const isFull =
    error instanceof ClickHouseError && (code === NOT_ENOUGH_SPACE || NO_SPACE.test(error.message))
  if (isFull || isFullDisk(error)) {
    return new AppError('disk_full', { message: 'The disk of ClickHouse is full.', cause: error })
  }
  if (code !== undefined && !PASSING.has(code)) return new AppError('internal', { cause: error })
  if (error instanceof TypeError || error instanceof RangeError || error instanceof SyntaxError) {
    return new AppError('internal', { cause: error })
  }
  return new AppError('store_unavailable', { cause: error })
}
