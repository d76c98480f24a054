import { AppError } from '../../base/errors.ts'
import { newUuid } from '../../base/ids.ts'
import type { ValidationReport } from '../../schema/types.gen.ts'
import { decodeBody } from './body-encoding.ts'
import { decodeRequest } from './decode.ts'
import type { Decoded, ReadBody, Rejected, RequestHead } from './decoded.ts'
import { readQueryAnswer } from './answered-runs.ts'
import { type ParsedJson, parseJson } from '../json/json-text.ts'
import type { LlmContext } from '../derive/llm.ts'
import { otlpFormat } from '../otel/wire/answer.ts'
import { createReport } from '../derive/report.ts'

/** First byte of an OTLP request: field 1, length-delimited. As text it is a line feed. */
const FIRST_FIELD = 10

/**
 * Returns the validation report on any body that ingest accepts, and on NDJSON and lists of runs. The report is in a
 * separate buffer, because it is transferred between threads. Stores nothing.
 */
export function validateBody(head: RequestHead, body: Uint8Array, context: LlmContext): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(reportBody(head, body, context)))
}

/** @throws AppError if nothing in the body can be read */
export function reportBody(head: RequestHead, body: Uint8Array, context: LlmContext): ValidationReport {
  return createReport([readBody(head, body)], context)
}

/**
 * Decodes a body whose kind is unknown: multipart, a batch, one run, a list of runs, an answer of `POST /runs/query`,
 * OTLP traces or logs in either encoding, or NDJSON with one of these on each line. `head.kind` is ignored, and the content type may be missing.
 * @throws AppError if nothing in the body can be read
 */
export function readBody(head: RequestHead, body: Uint8Array): ReadBody {
  const { bytes, truncated } = decodeBody(body, head.content_encoding, head.limits.max_body_bytes)
  const plain: RequestHead = {
    ...head,
    content_encoding: '',
    truncated: truncated || head.truncated === true,
  }
  const spans = readProto(plain, bytes)
  if (spans !== undefined) return spans
  const boundary = multipartBoundary(head.content_type, bytes)
  if (boundary === undefined) return readJson({ ...plain, content_type: 'application/json' }, bytes)
  const content_type = `multipart/form-data; boundary="${boundary}"`
  return contentOf(decodeRequest({ ...plain, kind: 'multipart', content_type }, bytes))
}

/**
 * Reads a body of type protobuf, or a body that begins like an OTLP message and is one; undefined for other bodies.
 * Traces and logs use some field numbers with different types, so a body can be read as only one of them.
 */
function readProto(head: RequestHead, bytes: Buffer): ReadBody | undefined {
  const isProto = otlpFormat(head.content_type) === 'protobuf'
  const mayBe = !/json|multipart/i.test(head.content_type) && bytes[0] === FIRST_FIELD
  if (!isProto && !mayBe) return undefined
  const plain: RequestHead = { ...head, content_type: 'application/x-protobuf' }
  const traces = attempt({ ...plain, kind: 'otlp-traces' }, bytes)
  const read = traces instanceof AppError ? attempt({ ...plain, kind: 'otlp-logs' }, bytes) : traces
  if (!(read instanceof AppError)) return isProto || hasContent(read) ? read : undefined
  if (isProto && traces instanceof AppError) throw traces
  return undefined
}

function attempt(head: RequestHead, bytes: Buffer): ReadBody | AppError {
  try {
    return contentOf(decodeRequest(head, bytes))
  } catch (error) {
    if (error instanceof AppError) return error
    throw error
  }
}

function hasContent({ rows, rejected }: ReadBody): boolean {
  return rows.length > 0 || rejected.length > 0
}

/** The boundary of a multipart body, from its type or, for a captured body without headers, from its first line. */
function multipartBoundary(contentType: string, body: Buffer): string | undefined {
  if (contentType.startsWith('multipart/')) return /boundary="?([^";]+)"?/i.exec(contentType)?.[1] ?? ''
  return /^--([^\r\n]{1,200})\r\nContent-/i.exec(body.toString('latin1', 0, 300))?.[1]
}

function readJson(head: RequestHead, bytes: Buffer): ReadBody {
  const text = bytes.toString('utf8').trim()
  if (!/^[[{]/.test(text)) throw new AppError('invalid_json')
  const whole = parseJson(text)
  const otlp = otlpKind(whole?.value)
  if (otlp !== undefined) return contentOf(decodeRequest({ ...head, kind: otlp }, Buffer.from(text)))
  if (whole === undefined && isLines(text)) {
    const lines = readLines(head, text)
    if (!lines.isReadable) throw new AppError('invalid_json')
    return lines.body
  }
  const answer = readQueryAnswer(whole?.value)
  if (answer !== undefined) {
    const sent = decodeRequest({ ...head, kind: 'batch' }, Buffer.from(JSON.stringify({ post: answer.sent })))
    return { ...contentOf(sent), judged: answer.judged }
  }
  if (text.startsWith('[')) {
    const batch = Buffer.from(`{"post":${whole?.text ?? text}}`)
    return contentOf(decodeRequest({ ...head, kind: 'batch' }, batch))
  }
  // A batch that is truncated JSON still contains complete runs.
  const batch = whole === undefined ? /^\{\s*"(post|patch)"/.test(text) : isBatch(whole.value)
  const kind = batch ? { kind: 'batch' as const } : { kind: 'create' as const, new_run_id: newUuid() }
  return contentOf(decodeRequest({ ...head, ...kind }, Buffer.from(text)))
}

function contentOf({ rows, rejected }: Decoded): ReadBody {
  return { rows, rejected, judged: [] }
}

/** Whether a JSON value is an OTLP export, and of which kind. */
function otlpKind(value: unknown): 'otlp-traces' | 'otlp-logs' | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  if ('resourceSpans' in value || 'resource_spans' in value) return 'otlp-traces'
  return 'resourceLogs' in value || 'resource_logs' in value ? 'otlp-logs' : undefined
}

/** Whether a JSON value is a batch; an empty object is one without runs. */
function isBatch(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  return 'post' in value || 'patch' in value || Object.keys(value).length === 0
}

/** True for NDJSON, also with damaged lines; false for a single document over several lines. */
function isLines(text: string): boolean {
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  const objects = lines.filter((line) => line.startsWith('{') && line.trim().length > 1)
  return lines.length > 1 && objects.length * 2 >= lines.length
}

export interface ReadLines {
  body: ReadBody
  /** False if no line is JSON. */
  isReadable: boolean
}

/**
 * Reads one run, one batch, one answer or one export on each line, as the OpenTelemetry collector writes files. The
 * first line has number `first`.
 */
export function readLines(head: RequestHead, text: string, first = 1): ReadLines {
  const posts: string[] = []
  const patches: string[] = []
  const exports: ReadBody[] = []
  const judged: ReadBody['judged'] = []
  const unreadable: Rejected[] = []
  let lines = 0
  for (const [i, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === '') continue
    lines++
    const parsed = parseJson(line)
    const otlp = otlpKind(parsed?.value)
    const answer = readQueryAnswer(parsed?.value)
    if (otlp !== undefined) exports.push(contentOf(decodeRequest({ ...head, kind: otlp }, Buffer.from(line))))
    else if (answer !== undefined) {
      posts.push(...answer.sent.map((run) => JSON.stringify(run)))
      judged.push(...answer.judged)
    } else if (parsed === undefined) {
      const reason = `Line ${first + i} is not JSON.`
      unreadable.push({ run_id: null, code: 'invalid_json', field: null, reason, error: reason, status: 400 })
    } else addLine(parsed, posts, patches)
  }
  const batch = `{"post":[${posts.join(',')}],"patch":[${patches.join(',')}]}`
  const read = [contentOf(decodeRequest({ ...head, kind: 'batch' }, Buffer.from(batch))), ...exports]
  return {
    body: {
      rows: Buffer.concat(read.map(({ rows }) => rows)),
      rejected: [...read.flatMap(({ rejected }) => rejected), ...unreadable],
      judged,
    },
    isReadable: unreadable.length < lines,
  }
}

function addLine({ value, text }: ParsedJson, posts: string[], patches: string[]): void {
  if (!isBatch(value)) {
    posts.push(text)
    return
  }
  const { post, patch } = value as { post?: unknown; patch?: unknown }
  for (const run of Array.isArray(post) ? post : []) posts.push(JSON.stringify(run))
  for (const run of Array.isArray(patch) ? patch : []) patches.push(JSON.stringify(run))
}
