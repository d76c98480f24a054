import { parseUuid } from '../../base/ids.ts'
import type { JsonObject, JsonValue } from '../../schema/json.ts'
import type { Fault } from '../decode/decoded.ts'
import { dottedOrderFault, idFault, type Op, timeFault, unprocessable } from '../decode/faults.ts'
import { parseDottedOrder } from '../derive/lineage/dotted-order.ts'
import { parseTime } from '../derive/time.ts'

/** Maximum length of a project name in UTF-16 units; the rest is cut off. */
const MAX_SESSION_NAME = 512
const TIMES = ['start_time', 'end_time']

/** The facts that decoding needs from a record. */
export interface HeadFacts {
  /** Whether the operation has an end_time. */
  ended: boolean
  /** Normalised name or id of the project; null if not named. */
  session_id: string | null
  session_name: string | null
}

/**
 * Checks the record of a TraceRun and returns the facts that decoding needs, or all of its faults. `runId` is a normal
 * uuid, or undefined if the id from the client (`sentId`) is not a uuid, which the caller reports. Only values that
 * make it impossible to store or place the record are faults (ids, times, a contradictory dotted_order:
 * schemas/trace-run.schema.json); other values are stored as sent, and checked when the TraceRun is derived.
 */
export function checkHead(
  head: JsonObject,
  op: Op,
  runId: string | undefined,
  sentId: string,
): HeadFacts | readonly Fault[] {
  const faults: Fault[] = []
  const uuidAt = (field: string): string | null | undefined => {
    const id = optionalUuid(head[field])
    if (id === undefined) faults.push(idFault(op, sentId, field))
    return id
  }
  if (runId !== undefined && head['id'] !== runId) {
    const id = uuidAt('id')
    if (typeof id === 'string' && id !== runId) {
      const reason = `The record has the id ${id}, it was sent as ${runId}.`
      faults.push(unprocessable('invalid_run_id', 'id', reason))
    }
  }
  const traceId = uuidAt('trace_id')
  const parentId = uuidAt('parent_run_id')
  const sessionId = uuidAt('session_id')
  for (const field of TIMES) if (isBadTime(head[field])) faults.push(timeFault(field))
  const order = checkDottedOrder(head['dotted_order'], op, { runId, traceId, parentId })
  if (order !== undefined) faults.push(order)
  if (faults.length > 0) return faults
  return {
    ended: isPresent(head['end_time']),
    session_id: sessionId ?? null,
    session_name: sessionName(head['session_name']),
  }
}

/** A uuid in normal form. Null for an absent value, null or ''; undefined for any other value. */
function optionalUuid(value: JsonValue | undefined): string | null | undefined {
  return isPresent(value) && value !== '' ? parseUuid(value) : null
}

function isPresent(value: JsonValue | undefined): boolean {
  return value !== undefined && value !== null
}

function isBadTime(value: JsonValue | undefined): boolean {
  return isPresent(value) && parseTime(value) === undefined
}

/** A project's name as it is stored: trimmed and cut to the limit; null when there is none. */
export function sessionName(value: JsonValue | undefined): string | null {
  if (typeof value !== 'string') return null
  const name = value.trim().slice(0, MAX_SESSION_NAME)
  return name === '' ? null : name
}

/** Ids of a record: null if not sent; undefined if not a uuid, in which case the id is not compared. */
interface Ids {
  runId: string | undefined
  traceId: string | null | undefined
  parentId: string | null | undefined
}

/** Checks the invariants of ids and dotted_order. An update may leave out the parent; a create must not. */
function checkDottedOrder(value: JsonValue | undefined, op: Op, ids: Ids): Fault | undefined {
  if (!isPresent(value) || value === '') return undefined
  const reason = typeof value === 'string' ? contradiction(value, op, ids) : 'dotted_order must be a string'
  if (reason === undefined) return undefined
  return dottedOrderFault(reason, {
    run_id: ids.runId ?? '',
    trace_id: ids.traceId ?? '',
    dotted_order: typeof value === 'string' ? value : `(${typeof value})`,
    parent_run_id: ids.parentId ?? '',
  })
}

function contradiction(text: string, op: Op, { runId, traceId, parentId }: Ids): string | undefined {
  const parsed = parseDottedOrder(text)
  if (!parsed.ok) return `dotted_order has an invalid format: ${parsed.reason}`
  const { segments } = parsed
  const count = segments.length
  if (isId(parentId) && count < 2) return 'dotted_order must contain at least two parts for child runs'
  if (parentId === null && count > 1 && op === 'post') {
    return 'dotted_order must contain a single part for root runs'
  }
  if (isId(runId) && segments[count - 1]!.id !== runId)
    return 'run_id does not match last part of dotted_order'
  if (isId(traceId) && segments[0]!.id !== traceId)
    return 'trace_id does not match first part of dotted_order'
  if (isId(parentId) && segments[count - 2]!.id !== parentId) {
    return 'parent_run_id does not match second to last part of dotted_order'
  }
  return undefined
}

function isId(id: string | null | undefined): id is string {
  return typeof id === 'string'
}
