import { hash } from 'node:crypto'
import { AppError } from '../../../base/errors.ts'
import { dashed, parseUuid } from '../../../base/ids.ts'
import { text } from '../../../schema/json.ts'
import type { Fault } from '../../decode/decoded.ts'
import { tooLargeFault, unprocessable } from '../../decode/faults.ts'
import type { Blob, Decoded, ProjectReference, Rejected, RequestHead } from '../../decode/decoded.ts'
import { emptyFragment, RANK, writeFragment } from '../../rows/fragment.ts'
import { RowWriter } from '../../rows/row-binary.ts'
import { formatTime } from '../../derive/time.ts'
import { sessionName } from '../../rows/trace-run-head.ts'
import { encoding } from './encode-spans.ts'
import { readJsonLogs, readJsonSpans } from './json.ts'
import { otlpFormat } from './answer.ts'
import { readProtoLogs } from './proto/decode.ts'
import { type IncomingSource, type IncomingSpan, isTime, type WireLog } from './record.ts'
import { ProtoWriter } from './proto/writer.ts'
import { scanSpans } from './scan-spans.ts'
import { LOG_PREFIX, readSpan } from '../span/span.ts'
import { isFilteredOut } from '../span/span-filter.ts'
import { PART_FIELDS } from '../span/parts.ts'
import { ATTACHMENTS, takeAttachments } from '../map/span-attachments.ts'
import { spanIds, spanUuid } from '../span/ids.ts'
import { readStoredSpan, timeText, writeStoredSpan } from './stored-span.ts'

const NONE = new Uint8Array(0)
/** Name of the project for spans without a project. */
const DEFAULT_PROJECT = 'default'

/**
 * Converts the uncompressed body of an OTLP/HTTP request to fragments: one for each span, and one for each log record
 * that belongs to a span. A bad record does not affect the others. Throws AppError unsupported_media_type, invalid_otlp
 * (the whole body is refused), too_many_parts and body_too_large.
 */
export function decodeOtlp(head: RequestHead, body: Buffer): Omit<Decoded, 'body_bytes'> {
  const format = otlpFormat(head.content_type)
  if (format === undefined) throw new AppError('unsupported_media_type')
  const writer = new OtlpWriter(head, body.length)
  const group = (): void => writer.count()
  if (head.kind === 'otlp-logs') {
    const take = (log: WireLog): void => writer.takeLog(log)
    if (format === 'protobuf') readProtoLogs(body, take, group)
    else readJsonLogs(body, take, group)
  } else {
    const take = (span: IncomingSpan, source: IncomingSource): void => writer.takeSpan(span, source)
    if (format === 'protobuf') scanSpans(body, take, group)
    else readJsonSpans(body, encoding(take), group)
  }
  return writer.finish()
}

/** Writes the fragments of one request. */
class OtlpWriter {
  readonly #head: RequestHead
  readonly #rows: RowWriter
  /**
   * Limit on the size of the rows. Every stored record repeats its resource, so a small body could expand to very large
   * rows.
   */
  readonly #maxRowBytes: number
  readonly #projects = new Map<string, ProjectReference>()
  readonly #blobs = new Map<string, Blob>()
  readonly #rejected: Rejected[] = []
  readonly #extra = new ProtoWriter()
  #parts = 0
  #stored = 0

  constructor(head: RequestHead, bodyBytes: number) {
    this.#head = head
    this.#rows = new RowWriter(Math.ceil(bodyBytes * 1.5))
    this.#maxRowBytes = head.limits.max_body_bytes * 2 + (1 << 20)
  }

  /** Counts one more resource, scope or record. */
  count(): void {
    const { max_parts } = this.#head.limits
    if (++this.#parts > max_parts)
      throw new AppError('too_many_parts', { message: `The request has more than ${max_parts} records.` })
  }

  takeSpan(span: IncomingSpan, source: IncomingSource): void {
    this.count()
    const fault = spanFault(span)
    if (fault !== undefined) return this.#reject(span.span_id, fault)
    const ids = spanIds(span)
    const project = this.#projectOf(span, source)
    const isFiltered = this.#isFiltered(span, source, project)
    const attachments = isFiltered ? '' : takeAttachments(span.marks, this.#blobs)
    // Children and log records of the span refer to it only by its span id.
    const isAlias = ids.id !== spanUuid(span.span_id) && ids.id !== dashed(span.trace_id)
    if (isAlias) this.#writePart(span.span_id, { [PART_FIELDS.alias]: ids.id }, NONE)
    if (!isFiltered) writeStoredSpan(this.#extra, span, source, attachments === '' ? undefined : ATTACHMENTS)
    const offset = this.#write(span.span_id, {
      run_id: ids.id,
      rank: isFiltered ? RANK.filtered : span.end === 0 ? RANK.update : RANK.update_with_end,
      head: JSON.stringify({
        ...ids,
        name: span.name,
        start_time: formatTime(span.start),
        ...(span.end === 0 ? {} : { end_time: formatTime(span.end) }),
        span_id: span.span_id,
        // A project in the request's header is added to the content, so that the same span under another project is
        // another fragment. A project in the span or resource is already part of the span.
        ...(project.is_of_request ? { session_name: project.session_name } : {}),
      }),
      extra: isFiltered ? NONE : this.#extra.view(),
      attachments,
    })
    if (offset !== undefined) this.#noteProject(project, offset)
  }

  takeLog(log: WireLog): void {
    this.count()
    const name = log.name || (text(log.attributes['event.name']) ?? '')
    const fault = logFault(log, name)
    if (fault !== undefined) return this.#reject(log.span_id, fault)
    const { attributes, body } = log
    const record = JSON.stringify({ name, time: timeText(log.time), attributes, body })
    const key = LOG_PREFIX + hash('sha1', record, 'hex').slice(0, 16)
    this.#writePart(
      log.span_id,
      { [PART_FIELDS.trace]: dashed(log.trace_id) },
      Buffer.from(`{"${key}":${record}}`),
    )
  }

  /** Writes a part under the span's own id, which may differ from the id of the owning TraceRun. */
  #writePart(span_id: string, owner: Record<string, string>, extra: Uint8Array): void {
    const head = JSON.stringify({ ...owner, span_id })
    this.#write(span_id, { run_id: spanUuid(span_id), rank: RANK.update, head, extra, attachments: '' })
  }

  finish(): Omit<Decoded, 'body_bytes'> {
    return {
      rows: this.#rows.finish(),
      count: this.#stored,
      projects: [...this.#projects.values()],
      feedback_rows: new Uint8Array(0),
      feedback_count: 0,
      blobs: [...this.#blobs.values()],
      rejected: this.#rejected,
      truncated: false,
    }
  }

  /** Writes one fragment. Returns the position of its project id, or undefined if the fragment is too large. */
  #write(
    spanId: string,
    record: { run_id: string; rank: number; head: string; extra: Uint8Array; attachments: string },
  ): number | undefined {
    const { workspace_id, received_at, user_id, api_key_id, limits } = this.#head
    const { extra } = record
    if (extra.length > limits.max_part_bytes) {
      this.#reject(spanId, tooLargeFault(null, extra.length, limits.max_part_bytes))
      return undefined
    }
    if (this.#rows.length + extra.length > this.#maxRowBytes) throw new AppError('body_too_large')
    this.#stored++
    return writeFragment(this.#rows, {
      ...emptyFragment(workspace_id, record.run_id, record.rank, received_at),
      user_id,
      api_key_id,
      head: Buffer.from(record.head),
      extra,
      attachments: Buffer.from(record.attachments),
    })
  }

  #reject(spanId: string, fault: Fault): void {
    this.#rejected.push({ run_id: isId(spanId, 16) ? spanUuid(spanId) : null, ...fault })
  }

  /** The project of the span, otherwise that of the request, otherwise that of the resource. */
  #projectOf({ marks }: IncomingSpan, source: IncomingSource): SpanProject {
    const sentId = marks['langsmith.trace.session_id']
    const session_id = parseUuid(sentId) ?? null
    const own = sessionName(marks['langsmith.trace.session_name'])
    if (own !== null || session_id !== null) return { session_id, session_name: own, is_of_request: false }
    const named = sessionName(sentId)
    const request = named === null ? sessionName(this.#head.project) : null
    const resource = sessionName(source.marks['langsmith.trace.session_name'])
    const session_name = named ?? request ?? resource ?? DEFAULT_PROJECT
    return { session_id, session_name, is_of_request: request !== null }
  }

  /** Whether a filter of the project leaves the span out. Only then, and to find out, all of the span is read. */
  #isFiltered(
    span: IncomingSpan,
    source: IncomingSource,
    { session_id, session_name }: SpanProject,
  ): boolean {
    const found = this.#head.span_filters?.find(({ project_id, project_name }) =>
      session_id === null ? project_name === session_name : project_id === session_id,
    )
    if (found === undefined) return false
    writeStoredSpan(this.#extra, span, source, undefined)
    const record = readStoredSpan(this.#extra.view())
    return record !== undefined && isFilteredOut(readSpan(record), found.filters)
  }

  #noteProject({ session_id, session_name }: SpanProject, offset: number): void {
    const key = `${session_id ?? ''}/${session_name ?? ''}`
    const known = this.#projects.get(key)
    if (known === undefined) this.#projects.set(key, { session_id, session_name, offsets: [offset] })
    else known.offsets.push(offset)
  }
}

/** The project of a span, and whether a header of its request names it. */
type SpanProject = Pick<ProjectReference, 'session_id' | 'session_name'> & { is_of_request: boolean }

const NOT_ZERO = /[^0]/
const HEX = /^[0-9a-f]+$/

/** True for the hex digits of an id that is valid in OTLP: of the right length, and not all zero. */
function isId(id: string, digits: number): boolean {
  return id.length === digits && HEX.test(id) && NOT_ZERO.test(id)
}

/** The reason why a span cannot be stored. */
function spanFault(span: IncomingSpan): Fault | undefined {
  const ids = idsFault(span)
  if (ids !== undefined) return ids
  if (NOT_ZERO.test(span.parent_span_id) && !isId(span.parent_span_id, 16))
    return unprocessable('invalid_parent_run_id', 'parent_span_id', 'parent_span_id is not 8 bytes.')
  if (span.start === 0) return unprocessable('missing_field', 'start_time', 'The span has no start time.')
  if (!isTime(span.start))
    return unprocessable('invalid_timestamp', 'start_time', 'The start time is out of range.')
  if (span.end !== 0 && !isTime(span.end))
    return unprocessable('invalid_timestamp', 'end_time', 'The end time is out of range.')
  return recordFault(span)
}

function logFault(log: WireLog, name: string): Fault | undefined {
  const isGenAi =
    name.startsWith('gen_ai.') || Object.keys(log.attributes).some((key) => key.startsWith('gen_ai.'))
  if (!isGenAi) return unprocessable('invalid_field', null, 'Only GenAI events are kept of log records.')
  return idsFault(log) ?? recordFault(log)
}

function idsFault({ trace_id, span_id }: IncomingSpan | WireLog): Fault | undefined {
  if (!isId(trace_id, 32))
    return unprocessable('invalid_trace_id', 'trace_id', 'trace_id is not 16 bytes, or all zero.')
  if (!isId(span_id, 16))
    return unprocessable('invalid_run_id', 'span_id', 'span_id is not 8 bytes, or all zero.')
  return undefined
}

function recordFault({ fault }: IncomingSpan | WireLog): Fault | undefined {
  if (fault === undefined) return undefined
  return {
    ...unprocessable(fault.code, null, fault.reason),
    status: fault.code === 'run_too_large' ? 413 : 422,
  }
}
