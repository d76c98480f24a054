import type { IncomingHttpHeaders } from 'node:http'
import { AppError, toAppError } from '../../../../base/errors.ts'
import { newUuid, parseUuid } from '../../../../base/ids.ts'
import type { Principal } from '../../../../identity/principal.ts'
import type { JsonObject } from '../../../../schema/json.ts'
import type { SchemaTypes } from '../../../../schema/types.gen.ts'
import type { RequestHead } from '../../../../trace/decode/decoded.ts'
import { absentFeedback } from '../../../../trace/rows/feedback.ts'
import type { AppDeps } from '../../app-deps.ts'
import { requestHead } from '../../ingest-handler.ts'
import { INGEST_REFUSALS } from '../tracing/ingest-route.ts'

/** Codes with which ingest may refuse the record, besides those of its content. */
export const STORE_FEEDBACK_ERRORS = [...INGEST_REFUSALS, 'trace_deleted'] as const

/** Wraps the record as the only part of a multipart body, so that all feedback is ingested in the same way. */
function wrapped(id: string, record: JsonObject, bare: RequestHead): { head: RequestHead; body: Uint8Array } {
  const boundary = `weir-${newUuid()}`
  const json = Buffer.from(JSON.stringify(record))
  const body = Buffer.concat([
    Buffer.from(
      `--${boundary}\r\nContent-Disposition: form-data; name="feedback.${id}"\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${json.length}\r\n\r\n`,
    ),
    json,
    Buffer.from(`\r\n--${boundary}--\r\n`),
  ])
  const content_type = `multipart/form-data; boundary=${boundary}`
  return { head: { ...bare, content_type, content_encoding: '' }, body: new Uint8Array(body) }
}

/**
 * Stores one record in the workspace of `principal` and resolves when reads return it. While the store is unavailable,
 * resolves once the record is acknowledged, which means that it is on disk. @throws AppError the reason for which
 * ingest refuses the record
 */
export async function storeFeedback(
  body: SchemaTypes['feedback-create'],
  { deps, principal, headers }: { deps: AppDeps; principal: Principal; headers: IncomingHttpHeaders },
): Promise<SchemaTypes['feedback-read']> {
  const id = parseUuid(body.id) ?? newUuid()
  const bare = requestHead({ kind: 'multipart' }, headers, principal, deps)
  const { received_at } = bare
  const absent = absentFeedback(Object.keys(body), { feedback_id: id, received_at })
  const { created_at = null, modified_at = null } = absent
  const times = { ...(created_at !== null && { created_at }), ...(modified_at !== null && { modified_at }) }
  const record = { ...body, ...times, id }
  const { head, body: bytes } = wrapped(id, record as JsonObject, bare)
  const { rejected } = await deps.ingester.ingest(head, bytes)
  const [fault] = rejected
  if (fault !== undefined) throw new AppError(fault.code, { message: fault.reason })
  await deps.ingester.settledSoon().catch((thrown: unknown) => {
    if (toAppError(thrown).code !== 'store_unavailable') throw thrown
  })
  return { ...absent, ...record, id }
}
