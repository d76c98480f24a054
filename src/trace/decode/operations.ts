import { createHash } from 'node:crypto'
import { parseUuid } from '../../base/ids.ts'
import { clip, idFault, type Op } from './faults.ts'
import { isEmptyUpdate, newOperation, type Operation } from './record.ts'
import type { Blob, Fault, Rejected } from './decoded.ts'
import type { FeedbackRow } from '../rows/feedback.ts'

/** Number of rejected items for which all faults are kept; for further items only the first fault is kept. */
const MAX_EXPLAINED = 1000

interface Attachment {
  mime_type: string
  bytes: Buffer
}

export type StoredOperation = Operation & { run_id: string }

/** All operations of a request, collected in any order. */
export interface Operations {
  /**
   * Returns the operation on a TraceRun, which the first call creates. If the id is not a uuid, the operation is
   * rejected for its id, and its other faults are listed as further faults.
   */
  of(op: Op, sentId: string): Operation
  attach(runId: string, name: string, attachment: Attachment): void
  addFeedback(row: FeedbackRow): void
  reject(sentId: string | null, ...faults: readonly [Fault, ...Fault[]]): void
  /**
   * Returns the operations that can be stored, in order of arrival, and everything else that was gathered. Must be
   * called once, after all other calls.
   */
  finish(): { stored: StoredOperation[]; feedback: FeedbackRow[]; blobs: Blob[]; rejected: Rejected[] }
}

/** Starts gathering the operations of one request. */
export function gatherOperations(): Operations {
  const operations = new Map<string, Operation>()
  const attachments = new Map<string, Map<string, Attachment>>()
  const feedback = new Map<string, FeedbackRow>()
  const rejected: Rejected[] = []
  let last: Operation | undefined

  function open(op: Op, runId: string | undefined, sentId: string): Operation {
    const key = op + (runId ?? sentId)
    let operation = operations.get(key)
    if (operation === undefined) {
      operations.set(key, (operation = newOperation(op, runId, sentId)))
      if (runId === undefined)
        rejected.push({ run_id: clip(sentId), ...idFault(op, sentId, 'id'), ...explained(operation.faults) })
    }
    return operation
  }

  /** The later faults of an item. Only the first items have them, since a hostile body may have five in each item. */
  function explained(further: readonly Fault[]): Pick<Rejected, 'further'> {
    return rejected.length < MAX_EXPLAINED ? { further } : {}
  }

  function reject(sentId: string | null, ...[fault, ...further]: readonly [Fault, ...Fault[]]): void {
    const runId = sentId === null ? null : (parseUuid(sentId) ?? clip(sentId))
    rejected.push({ run_id: runId, ...fault, ...(further.length > 0 && explained(further)) })
  }

  return {
    of(op, sentId) {
      if (last !== undefined && last.op === op && last.sent_id === sentId) return last
      return (last = open(op, parseUuid(sentId), sentId))
    },
    attach(runId, name, attachment) {
      const named = attachments.get(runId)
      if (named === undefined) attachments.set(runId, new Map([[name, attachment]]))
      else named.set(name, attachment)
    },
    addFeedback: (row) => void feedback.set(row.feedback_id, row),
    reject,
    finish() {
      const blobs = new Map<string, Blob>()
      for (const [runId, named] of attachments) {
        const post = operations.get(`post${runId}`)
        const patch = operations.get(`patch${runId}`)
        const whole = [post, patch].find(
          (operation) => operation !== undefined && operation.faults.length === 0,
        )
        // A rejected TraceRun is not stored at all. An attachment without a record becomes an update.
        if (whole === undefined && (post ?? patch) !== undefined) continue
        const target = whole ?? open('patch', runId, runId)
        target.attachments = storeAttachments(named, blobs)
      }
      const stored = withoutFaulty(operations.values(), reject)
      return { stored, feedback: [...feedback.values()], blobs: [...blobs.values()], rejected }
    },
  }
}

/**
 * Returns the operations that can be stored and rejects the others, except those without an id, which are rejected
 * already. Updates that change nothing are left out, because they would make a trace of an unknown TraceRun.
 */
function withoutFaulty(operations: Iterable<Operation>, reject: Operations['reject']): StoredOperation[] {
  const stored: StoredOperation[] = []
  for (const operation of operations) {
    const [fault, ...further] = operation.faults
    if (!hasId(operation)) continue
    if (fault !== undefined) reject(operation.sent_id, fault, ...further)
    else if (!isEmptyUpdate(operation)) stored.push(operation)
  }
  return stored
}

function hasId(operation: Operation): operation is StoredOperation {
  return operation.run_id !== undefined
}

/**
 * Returns the JSON about the attachments, in order of their names, and adds their bytes to `blobs`, equal bytes only
 * once.
 */
function storeAttachments(named: ReadonlyMap<string, Attachment>, blobs: Map<string, Blob>): Buffer {
  const entries = [...named].sort(([a], [b]) => (a < b ? -1 : 1))
  const described = entries.map(([name, { mime_type, bytes }]) => {
    const sha256 = createHash('sha256').update(bytes).digest('hex')
    // A copy, because the bytes are needed longer than the body and are transferred to another thread without it.
    if (!blobs.has(sha256)) blobs.set(sha256, { sha256, bytes: new Uint8Array(bytes) })
    return [name, { mime_type, size: bytes.length, sha256 }] as const
  })
  return Buffer.from(JSON.stringify(Object.fromEntries(described)))
}
