import { AppError } from '../../base/errors.ts'
import { readFeedback } from './feedback-record.ts'
import type { Fault } from './decoded.ts'
import { clip, incompleteFault, type Op, tooLargeFault, unprocessable } from './faults.ts'
import type { Operations } from './operations.ts'
import { type BodyPart, findBoundary, mediaType, readBodyParts } from './split-multipart.ts'
import { addField, addRecord } from './record.ts'
import type { RequestHead } from './decoded.ts'
import { BIG_FIELDS, type BigField } from '../rows/fragment.ts'
import { parseUuid } from '../../base/ids.ts'

/**
 * The parts of a name such as `post.{id}.{field}`: the kind before the first dot, the id, and the text after the id.
 */
interface PartName {
  kind: string
  id: string
  rest: string | undefined
}

/**
 * Gathers the parts of a multipart body. Returns whether the body ended with its closing boundary. Throws AppError
 * unsupported_media_type, invalid_multipart (nothing in it can be read) and too_many_parts.
 */
export function gatherMultipart(
  head: RequestHead,
  body: Buffer,
  operations: Operations,
): { closed: boolean } {
  if (!/^\s*(multipart\/|$)/i.test(head.content_type)) throw new AppError('unsupported_media_type')
  const boundary = findBoundary(head.content_type, body)
  if (boundary === undefined) throw new AppError('invalid_multipart')
  let parts = 0
  const end = readBodyParts(body, boundary, (part) => {
    if (++parts > head.limits.max_parts) {
      throw new AppError('too_many_parts', {
        message: `The request has more than ${head.limits.max_parts} parts.`,
      })
    }
    takePart(head, body, part, operations)
  })
  if (end === undefined || (parts === 0 && !end.closed)) throw new AppError('invalid_multipart')
  return end
}

function takePart(head: RequestHead, body: Buffer, part: BodyPart, operations: Operations): void {
  const name = part.name === undefined ? undefined : splitName(part.name)
  const bytes = body.subarray(part.from, part.to)
  switch (name?.kind) {
    case 'post':
    case 'patch':
      return takeOperationPart(head, part, name.kind, name, bytes, operations)
    case 'feedback':
      return takeFeedbackPart(head, part, name.id, bytes, operations)
    case 'attachment':
      return takeAttachmentPart(head, part, name, bytes, operations)
    default:
      return operations.reject(null, unknownPart(part.name))
  }
}

function splitName(name: string): PartName | undefined {
  const first = name.indexOf('.')
  if (first < 0) return undefined
  const second = name.indexOf('.', first + 1)
  if (second < 0) return { kind: name.slice(0, first), id: name.slice(first + 1), rest: undefined }
  return { kind: name.slice(0, first), id: name.slice(first + 1, second), rest: name.slice(second + 1) }
}

function takeOperationPart(
  head: RequestHead,
  part: BodyPart,
  op: Op,
  { id, rest }: PartName,
  bytes: Buffer,
  operations: Operations,
): void {
  const operation = operations.of(op, id)
  if (rest !== undefined && !isBigField(rest)) return operations.reject(id, unknownPart(part.name))
  const fault = partFault(head, part, rest ?? null)
  if (fault !== undefined) operation.faults.push(fault)
  else if (rest === undefined) addRecord(operation, bytes, head.limits.max_part_bytes)
  else addField(operation, rest, bytes)
}

function takeFeedbackPart(
  head: RequestHead,
  part: BodyPart,
  id: string,
  bytes: Buffer,
  operations: Operations,
): void {
  const read = partFault(head, part, null) ?? readFeedback(bytes.toString('utf8'), id, head)
  if ('code' in read) operations.reject(id, read)
  else operations.addFeedback(read)
}

function takeAttachmentPart(
  head: RequestHead,
  part: BodyPart,
  { id, rest }: PartName,
  bytes: Buffer,
  operations: Operations,
): void {
  const runId = parseUuid(id)
  if (runId === undefined || rest === undefined || rest === '')
    return operations.reject(id, unknownPart(part.name))
  const fault = partFault(head, part, `attachment.${clip(rest)}`)
  if (fault !== undefined) operations.reject(id, fault)
  else operations.attach(runId, rest, { mime_type: mediaType(part.content_type), bytes })
}

/** The reason why a part's bytes cannot be used. */
function partFault(head: RequestHead, part: BodyPart, field: string | null): Fault | undefined {
  if (!part.complete) return incompleteFault(field)
  if (part.content_encoding !== '' && part.content_encoding !== 'identity') {
    return unprocessable('unsupported_encoding', field, 'A part may not have a Content-Encoding of its own.')
  }
  const size = part.to - part.from
  return size > head.limits.max_part_bytes
    ? tooLargeFault(field, size, head.limits.max_part_bytes)
    : undefined
}

function isBigField(name: string): name is BigField {
  return (BIG_FIELDS as readonly string[]).includes(name)
}

function unknownPart(name: string | undefined): Fault {
  const what = name === undefined ? 'A part without a readable name' : `Part "${clip(name, 200)}"`
  return unprocessable(
    'unknown_part',
    name === undefined ? null : clip(name, 200),
    `${what} is not known here.`,
  )
}
