import { gzipSync, zstdCompressSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { expectCpuBelow } from '../../../test/support/cpu-bound.ts'
import { codeOf, decodeJson } from '../../../test/support/traces/decode-request.ts'
import {
  BOUNDARY,
  multipartBody,
  requestHead,
  type WirePart,
} from '../../../test/support/traces/wire-body.ts'
import { decodeRequest } from './decode.ts'
import type { RequestHead } from './decoded.ts'
import { firstInShort, inLong } from '../../../test/support/length.ts'

const A = '01a1f83d-55e5-7000-8000-0387a5c1ebd1'
const B = '5886f37f-82a1-4058-9185-c8bc773996bd'
const HEAD_A = `{"id":"${A}","name":"a","session_name":"corpus"}`
const HUGE = { max_body_bytes: 200_000_000, max_parts: 25_000, max_part_bytes: 100_000_000 }

describe('decodeRequest of bodies that stop early', () => {
  const parts: WirePart[] = [
    { name: `post.${A}`, data: HEAD_A },
    { name: `post.${A}.inputs`, data: '{"q":1}' },
    { name: `post.${B}`, data: '{"name":"b"}' },
    { name: `post.${B}.inputs`, data: '{"q":"the last part"}' },
  ]
  const body = multipartBody(parts)

  it('INGEST-8: keeps complete runs and lists truncated ones', () => {
    const lastPart = body.indexOf(`post.${B}.inputs`)
    const lastData = body.indexOf('{"q":"the last')
    const end = body.indexOf('\r\n', lastData)
    const at = (size: number) => decodeRequest(requestHead(), body.subarray(0, size))
    for (const size of [lastData - 10, lastData, lastData + 5, end - 1]) {
      const cut = at(size)
      expect(cut).toMatchObject({
        count: 1,
        truncated: true,
        rejected: [{ run_id: B, code: 'incomplete_run', field: 'inputs' }],
      })
    }
    for (const size of [end, end + 1, end + 10, body.length - 4, body.length - 3]) {
      expect(at(size)).toMatchObject({ count: 2, truncated: true, rejected: [] })
    }
    expect(at(lastPart)).toMatchObject({ count: 2, truncated: true, rejected: [] })
    expect(at(body.length - 2)).toMatchObject({ count: 2, truncated: false })
    expect(codeOf(() => at(20))).toBe('invalid_multipart')
  })

  inLong(() => {
    it('does the same for a part without a length', () => {
      const open = multipartBody([...parts.slice(0, 3), { ...parts[3]!, length: 'none' }], '')
      expect(decodeRequest(requestHead(), open)).toMatchObject({ count: 1, rejected: [{ run_id: B }] })
    })
  })

  it.each([
    ['gzip', gzipSync],
    ['zstd', zstdCompressSync],
  ] as const)('yields the start of a broken %s stream', (content_encoding, compress) => {
    const many = Array.from({ length: 3000 }, (_, i) => ({
      name: `post.${A.slice(0, -4)}${String(i).padStart(4, '0')}`,
      data: JSON.stringify({ name: `run ${Math.sqrt(i)}` }),
    }))
    const wire = compress(multipartBody(many))
    const decoded = decodeRequest(requestHead({ content_encoding }), wire.subarray(0, wire.length * 0.8))
    expect(decoded.truncated).toBe(true)
    expect(decoded.count).toBeGreaterThan(500)
    expect(decoded.count).toBeLessThan(3000)
  })

  it('INGEST-8: keeps the complete records of a JSON batch whose connection broke', () => {
    const text = JSON.stringify({
      post: [
        { id: A, inputs: { a: 1 } },
        { id: B, inputs: {} },
      ],
    })
    const decoded = decodeJson('batch', text.slice(0, -6), { truncated: true })
    expect(decoded).toMatchObject({ count: 1, truncated: true, rejected: [{ code: 'incomplete_run' }] })
    expect(codeOf(() => decodeJson('batch', text.slice(0, -6)))).toBe('invalid_json')
  })
})

describe('decodeRequest limits', () => {
  it('for parts, operations, fields and the body', () => {
    const limits = { max_body_bytes: 2000, max_parts: 3, max_part_bytes: 100 }
    const many = Array.from({ length: 4 }, () => ({ name: `post.${A}`, data: '{}' }))
    expect(decodeRequest(requestHead({ limits }), multipartBody(many.slice(1))).count).toBe(1)
    expect(codeOf(() => decodeRequest(requestHead({ limits }), multipartBody(many)))).toBe('too_many_parts')
    const batch = { post: [{}, {}], patch: [{}, {}] }
    expect(codeOf(() => decodeJson('batch', batch, { limits }))).toBe('too_many_parts')
    const long = 'x'.repeat(101)
    for (const decoded of [
      decodeRequest(
        requestHead({ limits }),
        multipartBody([
          { name: `post.${A}.inputs`, data: long },
          { name: `post.${B}`, data: '{}' },
        ]),
      ),
      decodeJson('batch', { post: [{ id: A, inputs: long }, { id: B }] }, { limits }),
    ]) {
      expect(decoded).toMatchObject({
        count: 1,
        rejected: [{ run_id: A, code: 'run_too_large', field: 'inputs', status: 413 }],
      })
    }
    expect(codeOf(() => decodeJson('batch', ' '.repeat(2001), { limits }))).toBe('body_too_large')
    for (const [content_encoding, compress] of [
      ['gzip', gzipSync],
      ['ZSTD', zstdCompressSync],
    ] as const) {
      const bomb = compress(Buffer.alloc(50_000_000))
      expect(codeOf(() => decodeRequest(requestHead({ limits, content_encoding }), bomb))).toBe(
        'body_too_large',
      )
    }
  })

  it.each(
    firstInShort<[string, number, (i: number) => string]>([
      ['TraceRuns', 25_000, (i: number) => `post.${A.slice(0, -5)}${String(i).padStart(5, '0')}`],
      ['records of one TraceRun', 1, () => `post.${A}`],
      ['attachments of one TraceRun', 1, (i: number) => `attachment.${A}.n${i}`],
    ]),
  )('decodes 25,000 %s in less than a second', (_what, count, name) => {
    const parts = Array.from({ length: 25_000 }, (_, i) => ({ name: name(i), data: `{"k${i}":"x"}` }))
    const body = multipartBody(parts)
    expectCpuBelow(1, () => expect(decodeRequest(requestHead(), body).count).toBe(count))
  })

  it.each(
    firstInShort(
      [
        ['without a blank line', 'X: y\r\n'],
        ['with long headers', `X: ${'y'.repeat(4000)}\r\n`],
        ['with nothing in them', '\r\n'],
      ] as const,
      1,
    ),
  )('reads 24,000 parts %s in less than a second', (_what, part) => {
    const body = Buffer.from(`--${BOUNDARY}\r\n${part}`.repeat(24_000))
    expectCpuBelow(1, () => expect(decodeRequest(requestHead({ limits: HUGE }), body).count).toBe(0))
  })

  it('refuses other types and encodings, and bodies that are not multipart', () => {
    const body = multipartBody([{ name: `post.${A}`, data: '{}' }])
    const code = (changes: Partial<RequestHead>, bytes: Uint8Array = body) =>
      codeOf(() => decodeRequest(requestHead(changes), bytes))
    expect(code({ content_type: 'application/json' })).toBe('unsupported_media_type')
    expect(code({ kind: 'batch', content_type: 'multipart/form-data' })).toBe('unsupported_media_type')
    expect(code({ content_encoding: 'compress' })).toBe('unsupported_encoding')
    expect(code({ content_encoding: 'gzip' })).toBe('invalid_encoding')
    expect(code({}, Buffer.from('hello'))).toBe('invalid_multipart')
    expect(code({}, Buffer.alloc(0))).toBe('invalid_multipart')
    expect(code({ content_type: 'multipart/form-data' }, Buffer.from('hello'))).toBe('invalid_multipart')
    expect(decodeRequest(requestHead(), Buffer.from(`--${BOUNDARY}--\r\n`))).toMatchObject({
      count: 0,
      rejected: [],
    })
  })
})
