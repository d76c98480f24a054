import { AppError } from '../base/errors.ts'
import type { ValidationReport } from '../schema/types.gen.ts'
import { decodeBody } from './body-encoding.ts'
import { decodeRequest } from './decode.ts'
import type { Rejected, RequestHead } from './decoded.ts'
import { type ParsedJson, parseJson } from './json-text.ts'
import type { LlmContext } from './llm.ts'
import { createReport } from './report.ts'

/** What was read of a body: fragments as RowBinary rows, and the items that ingest would refuse. */
export interface ReadBody {
  rows: Uint8Array
  rejected: Rejected[]
}

/** The validation report for any body that ingest takes, and for NDJSON and lists of runs; stores nothing. */
export function validateBody(head: RequestHead, body: Uint8Array, context: LlmContext): Uint8Array {
  return Buffer.from(JSON.stringify(reportBody(head, body, context)))
}

/** @throws AppError where nothing of the body can be read */
export function reportBody(head: RequestHead, body: Uint8Array, context: LlmContext): ValidationReport {
  const { rows, rejected } = readBody(head, body)
  return createReport(rows, rejected, context)
}

/**
 * Decodes a body of which only the content type, or nothing at all, is known: multipart, a batch, one run, a list
 * of runs, or NDJSON with a run or a batch a line; `head.kind` says nothing here.
 * @throws AppError where nothing of the body can be read
 */
export function readBody(head: RequestHead, body: Uint8Array): ReadBody {
  const { bytes, truncated } = decodeBody(body, head.content_encoding, head.limits.max_body_bytes)
  const plain: RequestHead = {
    ...head,
    content_encoding: '',
    truncated: truncated || head.truncated === true,
  }
  const boundary = multipartBoundary(head.content_type, bytes)
  if (boundary === undefined) return readJson({ ...plain, content_type: 'application/json' }, bytes)
  const content_type = `multipart/form-data; boundary="${boundary}"`
  return decodeRequest({ ...plain, kind: 'multipart', content_type }, bytes)
}

/** The boundary of a multipart body: from its type, or, for a captured body alone, from its first line. */
function multipartBoundary(contentType: string, body: Buffer): string | undefined {
  if (contentType.startsWith('multipart/')) return /boundary="?([^";]+)"?/i.exec(contentType)?.[1] ?? ''
  return /^--([^\r\n]{1,200})\r\nContent-/i.exec(body.toString('latin1', 0, 300))?.[1]
}

function readJson(head: RequestHead, bytes: Buffer): ReadBody {
  const text = bytes.toString('utf8').trim()
  if (!/^[[{]/.test(text)) throw new AppError('invalid_json')
  const whole = parseJson(text)
  if (whole === undefined && isLines(text)) return readLines(head, text)
  if (text.startsWith('[')) {
    return decodeRequest({ ...head, kind: 'batch' }, Buffer.from(`{"post":${whole?.text ?? text}}`))
  }
  // A batch that is no JSON, because it stops early, still has whole runs in it.
  const batch = whole === undefined ? /^\{\s*"(post|patch)"/.test(text) : isBatch(whole.value)
  return decodeRequest({ ...head, kind: batch ? 'batch' : 'create' }, Buffer.from(text))
}

function isBatch(value: unknown): boolean {
  return typeof value === 'object' && value !== null && ('post' in value || 'patch' in value)
}

/** True for NDJSON, damaged lines and all; a single document over many lines is none. */
function isLines(text: string): boolean {
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  const objects = lines.filter((line) => line.startsWith('{') && line.trim().length > 1)
  return lines.length > 1 && objects.length * 2 >= lines.length
}

/** One run, or one batch, a line. */
function readLines(head: RequestHead, text: string): ReadBody {
  const posts: string[] = []
  const patches: string[] = []
  const unreadable: Rejected[] = []
  for (const [i, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === '') continue
    const parsed = parseJson(line)
    if (parsed === undefined) {
      const reason = `Line ${i + 1} is not JSON.`
      unreadable.push({ run_id: null, code: 'invalid_json', field: null, reason, error: reason, status: 400 })
    } else addLine(parsed, posts, patches)
  }
  if (posts.length === 0 && patches.length === 0) throw new AppError('invalid_json')
  const batch = `{"post":[${posts.join(',')}],"patch":[${patches.join(',')}]}`
  const { rows, rejected } = decodeRequest({ ...head, kind: 'batch' }, Buffer.from(batch))
  return { rows, rejected: [...rejected, ...unreadable] }
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
