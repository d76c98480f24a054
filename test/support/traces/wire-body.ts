import { readdirSync, readFileSync } from 'node:fs'
import type { Decoded, RequestHead } from '../../../src/trace/decode/decoded.ts'
import { type Fragment, readFragments } from '../../../src/trace/rows/fragment.ts'

const CORPUS = new URL('../../corpus/', import.meta.url)

export const BOUNDARY = '----LangSmithFormBoundarytest0000'

/** A request's head with generous limits; multipart by default. */
export function requestHead(changes: Partial<RequestHead> = {}): RequestHead {
  return {
    kind: 'multipart',
    content_type:
      changes.kind === undefined ? `multipart/form-data; boundary=${BOUNDARY}` : 'application/json',
    content_encoding: '',
    workspace_id: '11111111-1111-4111-8111-111111111111',
    user_id: '22222222-2222-4222-8222-222222222222',
    api_key_id: '33333333-3333-4333-8333-333333333333',
    received_at: 1_795_166_133_964,
    limits: { max_body_bytes: 50_000_000, max_parts: 25_000, max_part_bytes: 20_000_000 },
    ...changes,
  }
}

/** A part to send. `length` says where its length stands, `stated` is a wrong length. */
export interface WirePart {
  name: string
  data: string | Uint8Array
  type?: string
  length?: 'parameter' | 'header' | 'none'
  stated?: number
}

/** A multipart body in the form that the SDKs write; `end` replaces everything after the last part. */
export function multipartBody(parts: readonly WirePart[], end = `\r\n--${BOUNDARY}--\r\n`): Buffer {
  const pieces: Uint8Array[] = []
  for (const [
    i,
    { name, data, type = 'application/json', length = 'parameter', stated },
  ] of parts.entries()) {
    const bytes = Buffer.from(data)
    const size = stated ?? bytes.length
    const typeLine = `Content-Type: ${type}${length === 'parameter' ? `; length=${size}` : ''}\r\n`
    const lengthLine = length === 'header' ? `Content-Length: ${size}\r\n` : ''
    const disposition = `Content-Disposition: form-data; name="${name}"\r\n`
    pieces.push(
      Buffer.from(`${i === 0 ? '' : '\r\n'}--${BOUNDARY}\r\n${disposition}${typeLine}${lengthLine}\r\n`),
    )
    pieces.push(bytes)
  }
  return Buffer.concat([...pieces, Buffer.from(parts.length === 0 ? end.slice(2) : end)])
}

/** A fragment with its bytes as text, without empty fields. */
export interface PlainFragment {
  run_id: string
  rank: number
  project_id: string
  [field: string]: unknown
}

/** The fragments of a result in readable form. */
export function plainFragments(decoded: Decoded): PlainFragment[] {
  return [...readFragments(decoded.rows)].map((fragment: Fragment) => {
    const { run_id, rank, project_id, ...rest } = fragment
    const bytes = Object.entries(rest).filter(
      (entry): entry is [string, Uint8Array] => entry[1] instanceof Uint8Array && entry[0] !== 'row',
    )
    const texts = bytes.map(([name, field]) => [name, Buffer.from(field).toString('utf8')] as const)
    return { run_id, rank, project_id, ...Object.fromEntries(texts.filter(([, text]) => text !== '')) }
  })
}

/** A recorded request of a real client. */
export interface CorpusRequest {
  name: string
  head: RequestHead
  body: Buffer
}

interface CorpusHeaders {
  method: string
  url: string
  headers: Record<string, string>
}

const KINDS: readonly [RegExp, RequestHead['kind']][] = [
  [/^POST \/runs\/multipart$/, 'multipart'],
  [/^POST \/runs\/batch$/, 'batch'],
  [/^POST \/runs$/, 'create'],
  [/^PATCH \/runs\/[^/]+$/, 'update'],
  [/^POST \/otel\/v1\/traces$/, 'otlp-traces'],
]

/** Every recorded request to an ingest route that is not OTLP. */
export function corpusRequests(): CorpusRequest[] {
  return recordedRequests(({ kind }) => !kind.startsWith('otlp-'))
}

/** Every recorded export of spans except one that does not decompress. */
export function otlpRequests(): CorpusRequest[] {
  const exports = recordedRequests(({ kind }) => kind.startsWith('otlp-'))
  return exports.filter(({ name }) => !name.startsWith('otlp-empty-and-bad/request-8'))
}

function recordedRequests(isWanted: (head: RequestHead) => boolean): CorpusRequest[] {
  const found: CorpusRequest[] = []
  for (const folder of readdirSync(CORPUS).sort()) {
    const files = readdirSync(new URL(`${folder}/`, CORPUS)).filter((name) => name.endsWith('.headers.json'))
    for (const file of files.sort()) {
      const at = new URL(`${folder}/${file}`, CORPUS)
      const { method, url, headers } = JSON.parse(readFileSync(at, 'utf8')) as CorpusHeaders
      const kind = KINDS.find(([pattern]) => pattern.test(`${method} ${url}`))?.[1]
      if (kind === undefined) continue
      const head = requestHead({
        kind,
        content_type: headers['content-type'] ?? '',
        content_encoding: headers['content-encoding'] ?? '',
        ...(kind === 'update' ? { path_run_id: url.split('/')[2]! } : {}),
      })
      if (!isWanted(head)) continue
      const body = readFileSync(
        new URL(file.replace('.headers.json', '.body'), new URL(`${folder}/`, CORPUS)),
      )
      found.push({ name: `${folder}/${file}`, head, body })
    }
  }
  return found
}
