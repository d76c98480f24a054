import { createHash } from 'node:crypto'
import { parseUuid } from '../../base/ids.ts'
import { clip, type Fault, idFault, type Op } from './faults.ts'
import { newOperation, type Operation } from './record.ts'
import type { Blob, Rejected } from './decoded.ts'
import type { FeedbackRow } from '../rows/feedback.ts'

interface Attachment {
  mime_type: string
  bytes: Buffer
}

/** Everything that a request asks for, gathered piece by piece in any order. */
export interface Operations {
  /** The operation on a TraceRun; undefined, and rejected once, when the id is no uuid. */
  of(op: Op, sentId: string): Operation | undefined
  attach(runId: string, name: string, attachment: Attachment): void
  addFeedback(row: FeedbackRow): void
  reject(sentId: string | null, fault: Fault): void
  /**
   * The operations that can be stored, in order of arrival. Call it once, last: the other members are complete after
   * it.
   */
  finish(): { stored: Operation[]; feedback: FeedbackRow[]; blobs: Blob[]; rejected: Rejected[] }
}

/** Starts gathering the operations of one request. */
export function gatherOperations(): Operations {
  const operations = new Map<string, Operation>()
  const attachments = new Map<string, Map<string, Attachment>>()
  const feedback = new Map<string, FeedbackRow>()
  const rejected: Rejected[] = []
  const badIds = new Set<string>()
  let last: Operation | undefined

  function open(op: Op, runId: string, sentId: string): Operation {
    const key = op + runId
    let operation = operations.get(key)
    if (operation === undefined) operations.set(key, (operation = newOperation(op, runId, sentId)))
    return operation
  }

  function reject(sentId: string | null, fault: Fault): void {
    const runId = sentId === null ? null : (parseUuid(sentId) ?? clip(sentId))
    rejected.push({ run_id: runId, ...fault })
  }

  return {
    of(op, sentId) {
      if (last !== undefined && last.op === op && last.sent_id === sentId) return last
      const runId = parseUuid(sentId)
      if (runId !== undefined) return (last = open(op, runId, sentId))
      const key = op + sentId
      if (!badIds.has(key)) reject(sentId, idFault(op, sentId, 'id'))
      badIds.add(key)
      return undefined
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
          (operation) => operation !== undefined && operation.fault === undefined,
        )
        // Nothing of a rejected TraceRun is stored. An attachment without a record becomes an update.
        if (whole === undefined && (post ?? patch) !== undefined) continue
        const target = whole ?? open('patch', runId, runId)
        target.attachments = storeAttachments(named, blobs)
      }
      const stored: Operation[] = []
      for (const operation of operations.values()) {
        if (operation.fault === undefined) stored.push(operation)
        else reject(operation.sent_id, operation.fault)
      }
      return { stored, feedback: [...feedback.values()], blobs: [...blobs.values()], rejected }
    },
  }
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
