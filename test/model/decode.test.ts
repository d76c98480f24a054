import { readFileSync } from 'node:fs'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createRegistry } from '../../src/schema/registry.ts'
import { decodeRequest } from '../../src/trace/decode/decode.ts'
import { BIG_FIELDS } from '../../src/trace/rows/fragment.ts'
import { parseTime } from '../../src/trace/derive/time.ts'
import { fuzzDecode } from '../support/fuzz/decode.ts'
import {
  BOUNDARY,
  corpusRequests,
  multipartBody,
  type PlainFragment,
  plainFragments,
  requestHead,
  type WirePart,
} from '../support/traces/wire-body.ts'
import { tries } from '../support/properties.ts'
import { inLong } from '../support/length.ts'

interface RecordedRequest {
  n: number
  terminated?: boolean
  parts?: { name: string; bytes: number }[]
  json?: Record<string, unknown>
}

function recorded(name: string): RecordedRequest {
  const [folder, file] = name.split('/')
  const at = new URL(`../corpus/${folder}/decoded.json`, import.meta.url)
  const { requests } = JSON.parse(readFileSync(at, 'utf8')) as { requests: RecordedRequest[] }
  const number = Number(/\d+/.exec(file!)![0])
  return requests.find(({ n }) => n === number)!
}

/** Sizes of fields in bytes, by the name of the part that each field came from: `post.{id}` or `post.{id}.{field}`. */
function partSizes(fragments: readonly PlainFragment[]): Record<string, number> {
  const sizes: Record<string, number> = {}
  for (const fragment of fragments) {
    const main = `${fragment.rank === 1 ? 'post' : 'patch'}.${fragment.run_id}`
    for (const field of ['head', ...BIG_FIELDS]) {
      const value = fragment[field]
      if (typeof value === 'string')
        sizes[field === 'head' ? main : `${main}.${field}`] = Buffer.byteLength(value)
    }
  }
  return sizes
}

describe('recorded requests of real clients', () => {
  const requests = corpusRequests()

  it('include every kind and encoding', () => {
    const kinds = new Set(requests.map(({ head }) => `${head.kind} ${head.content_encoding}`.trim()))
    expect([...kinds].sort()).toEqual(
      expect.arrayContaining(['create', 'multipart', 'multipart gzip', 'multipart zstd', 'update']),
    )
    expect(requests.length).toBeGreaterThan(45)
  })

  it.each(requests)('$name: every byte is in its place', ({ name, head, body }) => {
    const decoded = decodeRequest(head, body)
    expect(decoded).toMatchObject({ rejected: [], truncated: false })
    const fragments = plainFragments(decoded)
    const { parts, json } = recorded(name)
    if (json !== undefined) {
      const { inputs, outputs, extra, ...main } = json
      const texts = {
        head: main,
        ...(inputs ? { inputs } : {}),
        ...(outputs ? { outputs } : {}),
        ...(extra ? { extra } : {}),
      }
      expect(fragments).toHaveLength(1)
      for (const [field, value] of Object.entries(texts)) {
        expect(JSON.parse(String(fragments[0]![field]))).toEqual(value)
      }
    }
    if (parts !== undefined) {
      const own = parts.filter((part) => /^(post|patch)\./.test(part.name))
      expect(partSizes(fragments)).toEqual(Object.fromEntries(own.map((part) => [part.name, part.bytes])))
      const attached = parts.filter((part) => part.name.startsWith('attachment.'))
      expect(new Set(decoded.blobs.map((blob) => blob.bytes.length))).toEqual(
        new Set(attached.map((part) => part.bytes)),
      )
      expect(decoded.feedback_count).toBe(parts.filter((part) => part.name.startsWith('feedback.')).length)
    }
  })

  it('make the same rows twice', () => {
    for (const { head, body } of requests) {
      expect(Buffer.from(decodeRequest(head, body).rows).equals(decodeRequest(head, body).rows)).toBe(true)
    }
  })
})

/** Bytes that a client may put into a field; some resemble a boundary. */
const fieldBytes = fc.oneof(
  fc.json().map((text) => Buffer.from(text)),
  fc.uint8Array({ minLength: 1, maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
  fc
    .constantFrom(`\r\n--${BOUNDARY}\r\n`, `--${BOUNDARY}--`, '\r\n\r\n', '\r\n')
    .map((text) => Buffer.from(text)),
)
const kept = (bytes: Buffer) => bytes.toString('latin1') !== 'null'

const operation = fc.record({
  id: fc.uuid(),
  op: fc.constantFrom('post', 'patch'),
  head: fc
    .record({ name: fc.string({ unit: 'binary' }), big: fc.maxSafeNat() })
    .map((head) => JSON.stringify(head)),
  fields: fc.dictionary(fc.constantFrom(...BIG_FIELDS), fieldBytes.filter(kept), { noNullPrototype: true }),
})
const operations = fc.uniqueArray(operation, { selector: ({ id, op }) => op + id, maxLength: 6 })

function partsOf(
  all: readonly { id: string; op: string; head: string; fields: Record<string, Buffer> }[],
): WirePart[] {
  return all.flatMap(({ id, op, head, fields }) => [
    { name: `${op}.${id}`, data: head },
    ...Object.entries(fields).map(([field, data]) => ({ name: `${op}.${id}.${field}`, data })),
  ])
}

/** The fragments, including their bytes, without regard to order. */
function setOf(body: Buffer, encoding = ''): string[] {
  const decoded = decodeRequest(
    requestHead({ content_type: `multipart/form-data; boundary=${BOUNDARY}`, content_encoding: encoding }),
    body,
  )
  expect(decoded.rejected).toEqual([])
  return plainFragments(decoded)
    .map((fragment) => JSON.stringify(fragment))
    .sort()
}

describe('generated requests', () => {
  it('keep every byte of every field', () => {
    fc.assert(
      fc.property(operations, fc.constantFrom('parameter' as const, 'header' as const), (all, length) => {
        const body = multipartBody(partsOf(all).map((part) => ({ ...part, length })))
        const decoded = decodeRequest(requestHead(), body)
        expect(decoded).toMatchObject({ count: all.length, rejected: [], truncated: false })
        const expected = all.map(({ id, head, fields }) => ({
          run_id: id,
          head,
          ...Object.fromEntries(
            Object.entries(fields).map(([field, bytes]) => [field, bytes.toString('utf8')]),
          ),
        }))
        expect(plainFragments(decoded)).toMatchObject(expected)
      }),
      tries(300),
    )
  })

  it('give the same result in every order and encoding of their parts', () => {
    const shuffled = operations
      .map(partsOf)
      .chain((parts) => fc.tuple(fc.constant(parts), fc.shuffledSubarray(parts, { minLength: parts.length })))
    fc.assert(
      fc.property(shuffled, ([parts, mixed]) => {
        const straight = setOf(multipartBody(parts))
        const body = multipartBody(mixed)
        expect(setOf(body)).toEqual(straight)
        expect(setOf(gzipSync(body), 'gzip')).toEqual(straight)
        expect(setOf(zstdCompressSync(body), 'zstd')).toEqual(straight)
      }),
      tries(150),
    )
  })

  it('give the same result as one part each or inline in a batch', () => {
    const inline = fc.array(
      fc.record(
        { id: fc.uuid(), name: fc.string(), inputs: fc.dictionary(fc.string(), fc.jsonValue()) },
        { requiredKeys: ['id'] },
      ),
      { maxLength: 5 },
    )
    fc.assert(
      fc.property(inline, (records) => {
        const batch = decodeRequest(
          requestHead({ kind: 'batch' }),
          Buffer.from(JSON.stringify({ post: records })),
        )
        const parts = records.map((record) => ({ name: `post.${record.id}`, data: JSON.stringify(record) }))
        expect(plainFragments(batch)).toEqual(
          plainFragments(decodeRequest(requestHead(), multipartBody(parts))),
        )
        expect(batch.count).toBe(new Set(records.map(({ id }) => id)).size)
      }),
      tries(150),
    )
  })
})

const ID = '01a1f83d-55e5-7000-8000-0387a5c1ebd1'
const odd = fc.constantFrom(
  null,
  '',
  0,
  -1,
  5,
  1e11,
  1e12,
  9.1e9,
  1e300,
  -3e12,
  true,
  [],
  {},
  'x',
  ID,
  ID.replaceAll('-', ''),
  `${ID} `,
  ID.toUpperCase(),
)
const times = fc.constantFrom(
  '2026-11-20',
  '2026-11-20T08:59',
  '2026-11-20T08:59:22,5Z',
  '2026-11-20 08:59:22.1234567+05:30',
  '2026-11-20T08:59:22+02',
  '2026-11-20T08:59:22.',
  '2026-11-20T',
  '26-11-20',
  '2026-11-20T08:59:22 Z',
  '2026-11-20T08Z',
  '2026-11-20T08:59z',
  '2026-11-20T08:59:22+2',
)
const orders = fc.constantFrom(
  `20261120T091531685001Z${ID}`,
  `20261120t091531685001z${ID.replaceAll('-', '')}`,
  `20261120T091531Z${ID}`,
  ID,
  '.',
)
/** Values that are mostly valid, so that many records have no fault or one. */
const mostly = (good: fc.Arbitrary<unknown>) =>
  fc.oneof({ weight: 12, arbitrary: good }, { weight: 1, arbitrary: odd })
const goodId = fc.constantFrom(null, '', ID, ID.replaceAll('-', ''), ID.toUpperCase())
const goodTime = fc.oneof(
  fc.constantFrom(null, 0, 1795166133, 1795166133964.5),
  times.filter((text) => parseTime(text) !== undefined),
)
const record = fc.record(
  {
    id: mostly(goodId),
    trace_id: mostly(goodId),
    parent_run_id: mostly(fc.constant(null)),
    session_id: mostly(goodId),
    start_time: fc.oneof({ weight: 6, arbitrary: mostly(goodTime) }, { weight: 1, arbitrary: times }),
    end_time: mostly(goodTime),
    dotted_order: fc.oneof(
      { weight: 3, arbitrary: mostly(fc.constant(null)) },
      { weight: 2, arbitrary: orders },
    ),
    name: odd,
    tags: odd,
  },
  { requiredKeys: [] },
)

describe('the hand-written check', () => {
  it('refuses what schemas/trace-run.schema.json refuses, and beyond it only contradictions between fields', () => {
    const registry = createRegistry()
    const seen = { valid: 0, invalid: 0 }
    const length = tries(1500)
    fc.assert(
      fc.property(record, (fields) => {
        const { rejected } = decodeRequest(
          requestHead(),
          multipartBody([{ name: `patch.${ID}`, data: JSON.stringify(fields) }]),
        )
        const result = registry.check('trace-run', fields)
        seen[result.ok ? 'valid' : 'invalid']++
        const contradiction =
          rejected[0] !== undefined &&
          /does not match|at least two parts|was sent as/.test(`${rejected[0].error} ${rejected[0].reason}`)
        if (!contradiction) expect(rejected.length === 0).toBe(result.ok)
      }),
      length,
    )
    expect(Math.min(seen.valid, seen.invalid)).toBeGreaterThan(length.numRuns / 3)
  })

  it('accepts the same times as the schema, except for dates that do not exist', () => {
    const registry = createRegistry()
    const text = fc.oneof(
      times,
      fc.stringMatching(
        /^20\d\d-[01]\d-[0-3]\d([Tt ][0-2]\d:[0-5]\d(:[0-5]\d(\.\d{1,9})?)?(Z|[+-]\d\d(:?\d\d)?)?)?$/,
      ),
    )
    fc.assert(
      fc.property(text, (start_time) => {
        const result = registry.check('trace-run', { start_time })
        if (parseTime(start_time) !== undefined) expect(result.ok).toBe(true)
        else if (result.ok) expect(start_time).toMatch(/^\d{4}-(\d\d)-(\d\d)([Tt ](\d\d))?/)
      }),
      tries(1000),
    )
  })
})

inLong(() => {
  describe('mutated bodies', () => {
    it('throw only AppErrors and take less than a second of CPU each', () => {
      const report = fuzzDecode(20_261_120, 2000)
      expect(report.slowest_ms).toBeLessThan(1000)
      expect(report.fragments).toBeGreaterThan(2000)
      expect(report.rejected).toBeGreaterThan(200)
      expect(report.truncated).toBeGreaterThan(200)
      expect(Object.keys(report.errors).sort()).toEqual(
        expect.arrayContaining(['invalid_encoding', 'invalid_json', 'invalid_multipart']),
      )
    })
  })
})
