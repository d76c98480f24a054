import { AppError } from '../../../src/base/errors.ts'
import { decodeBody } from '../../../src/trace/decode/body-encoding.ts'
import { decodeRequest } from '../../../src/trace/decode/decode.ts'
import { readFragments, type StoredFragment } from '../../../src/trace/rows/fragment.ts'
import { mergeFragments } from '../../../src/trace/derive/merge.ts'
import { SPAN_KEY } from '../../../src/trace/otel/span/span.ts'
import { type Random, seededRandom } from '../seeded-random.ts'
import { type CorpusRequest, corpusRequests } from '../traces/wire-body.ts'

/** Results of a fuzz run. A run is only meaningful if some mutated bodies were still valid and others were not. */
export interface FuzzReport {
  rounds: number
  fragments: number
  rejected: number
  truncated: number
  /** Codes of the errors thrown, with their counts. */
  errors: Record<string, number>
  /** Milliseconds of CPU that the slowest body took. */
  slowest_ms: number
}

const TOKENS = [
  '\r\n',
  '\r\n\r\n',
  '--',
  '"',
  '{',
  ']',
  'NaN',
  '\0',
  '\\',
  'length=',
  'Content-Length: 7',
  ': null,',
  '\xff',
]

type Mutation = (body: Buffer, random: Random, boundary: string) => Buffer

function splice(body: Buffer, at: number, remove: number, insert: Uint8Array): Buffer {
  return Buffer.concat([body.subarray(0, at), insert, body.subarray(at + remove)])
}

const MUTATIONS: readonly Mutation[] = [
  (body, random) => {
    const copy = Buffer.from(body)
    for (let i = 0; i < 8 && copy.length > 0; i++) {
      const at = Math.floor(random() * copy.length)
      copy[at] = copy[at]! ^ (1 << Math.floor(random() * 8))
    }
    return copy
  },
  (body, random) => body.subarray(0, Math.floor(random() * body.length)),
  (body, random) =>
    splice(body, Math.floor(random() * body.length), Math.floor(random() * 300), Buffer.alloc(0)),
  (body, random) => {
    const token = TOKENS[Math.floor(random() * TOKENS.length)]!
    return splice(body, Math.floor(random() * body.length), 0, Buffer.from(token, 'latin1'))
  },
  (body, random, boundary) => {
    const ends = ['\r\n', '--\r\n', '', 'x', '\r\n\r\n'] as const
    const line = `\r\n--${boundary}${ends[Math.floor(random() * ends.length)]!}`
    return splice(body, Math.floor(random() * body.length), 0, Buffer.from(line))
  },
  (body, random) => {
    const text = body.toString('latin1')
    const wrong = text.replaceAll(/(length[=:] ?)(\d+)/gi, (whole, name: string, size: string) =>
      random() < 0.3 ? `${name}${Math.floor(Number(size) * random() * 2)}` : whole,
    )
    return Buffer.from(wrong, 'latin1')
  },
  (body, random) => {
    const from = Math.floor(random() * body.length)
    return splice(body, Math.floor(random() * body.length), 0, body.subarray(from, from + random() * 2000))
  },
]

function mutated(request: CorpusRequest, plain: Buffer, random: Random): CorpusRequest {
  const inside = request.head.content_encoding === '' || random() < 0.7
  const boundary = /boundary=(.*)/.exec(request.head.content_type)?.[1] ?? 'x'
  let body = inside ? plain : request.body
  for (let left = 1 + Math.floor(random() * 3); left > 0; left--) {
    body = MUTATIONS[Math.floor(random() * MUTATIONS.length)]!(body, random, boundary)
  }
  return { ...request, body, head: { ...request.head, ...(inside ? { content_encoding: '' } : {}) } }
}

/** Checks that an accepted span can be read as a span. */
function checkSpan(fragment: StoredFragment): void {
  const { created, extra, issues } = mergeFragments([fragment])
  if (issues.length > 0 || (created && extra[SPAN_KEY] === undefined)) throw new Error('a span that is none')
}

/**
 * Decodes mutated bodies of real clients. Throws when decoding throws anything but an AppError, or when its result is
 * inconsistent.
 */
export function fuzzDecode(
  seed: number,
  rounds: number,
  sent: readonly CorpusRequest[] = corpusRequests(),
): FuzzReport {
  const random = seededRandom(seed)
  const requests = sent.map((request) => ({
    request,
    plain: decodeBody(request.body, request.head.content_encoding, 50_000_000).bytes,
  }))
  const report: FuzzReport = { rounds, fragments: 0, rejected: 0, truncated: 0, errors: {}, slowest_ms: 0 }
  for (let round = 0; round < rounds; round++) {
    const { request, plain } = requests[Math.floor(random() * requests.length)]!
    const { head, body, name } = mutated(request, plain, random)
    const start = process.threadCpuUsage()
    try {
      const decoded = decodeRequest(head, body)
      const found = [...readFragments(decoded.rows)]
      if (found.length !== decoded.count)
        throw new Error(`${decoded.count} fragments announced, ${found.length} found`)
      if (head.kind.startsWith('otlp-')) for (const fragment of found) checkSpan(fragment)
      report.fragments += decoded.count
      report.rejected += decoded.rejected.length
      report.truncated += decoded.truncated ? 1 : 0
    } catch (error) {
      if (!(error instanceof AppError))
        throw new Error(`seed ${seed}, round ${round}, ${name}`, { cause: error })
      report.errors[error.code] = (report.errors[error.code] ?? 0) + 1
    }
    report.slowest_ms = Math.max(report.slowest_ms, process.threadCpuUsage(start).user / 1000)
  }
  return report
}
