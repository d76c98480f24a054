import { createHash } from 'node:crypto'
import { parseUuid } from '../../base/ids.ts'
import { clip, idFault, type Op } from './faults.ts'
import { newOperation, type Operation } from './record.ts'
import type { Blob, Fault, Rejected } from './decoded.ts'
import type { FeedbackRow } from '../rows/feedback.ts'

/** Rejected items of which all faults are kept. */
const MAX_EXPLAINED = 1000

interface Attachment {
  mime_type: string
  bytes: Buffer
}

/** An operation that can be stored. */
export type StoredOperation = Operation & { run_id: string }

/** All operations of a request, collected in any order. */
export interface Operations {
  /**
   * The operation on a TraceRun, created by the first call. When the id is no uuid, the operation is rejected for its
   * id, and its other faults are listed as further faults.
   */
  of(op: Op, sentId: string): Operation
  attach(runId: string, name: string, attachment: Attachment): void
  addFeedback(row: FeedbackRow): void
  reject(sentId: string | null, ...faults: readonly [Fault, ...Fault[]]): void
  /**
   * The operations that can be stored, in order of arrival. Call it once, last: the other members are complete after
   * it.
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

  /** The further faults of the first items only, since a hostile body may have five for each of its items. */
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

/** The operations that can be stored. The others are rejected; those without an id have been already. */
function withoutFaulty(operations: Iterable<Operation>, reject: Operations['reject']): StoredOperation[] {
  const stored: StoredOperation[] = []
  for (const operation of operations) {
    const [fault, ...further] = operation.faults
    if (!hasId(operation)) continue
    if (fault === undefined) stored.push(operation)
    else reject(operation.sent_id, fault, ...further)
  }
  return stored
}

function hasId(operation: Operation): operation is StoredOperation {
  return operation.run_id !== undefined
}

/** The JSON that names the attachments, in order of their names; their bytes go to `blobs`, each content once. */
function storeAttachments(named: ReadonlyMap<string, Attachment>, blobs: Map<string, Blob>): Buffer {
  const entries = [...named].sort(([a], [b]) => (a < b ? -1 : 1))
  const described = entries.map(([name, { mime_type, bytes }]) => {
    const sha256 = createHash('sha256').update(bytes).digest('hex')
    // A copy: it outlives the body, and moves to another thread without it.
    if (!blobs.has(sha256)) blobs.set(sha256, { sha256, bytes: new Uint8Array(bytes) })
    return [name, { mime_type, size: bytes.length, sha256 }] as const
  })
  return Buffer.from(JSON.stringify(Object.fromEntries(described)))
}
