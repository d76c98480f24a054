import { describe, expect, it } from 'vitest'
import { decodeParts } from '../../../test/support/traces/decode-request.ts'
import {
  BOUNDARY,
  multipartBody,
  plainFragments,
  requestHead,
} from '../../../test/support/traces/wire-body.ts'
import { NIL_UUID } from '../../base/ids.ts'
import { decodeRequest } from './decode.ts'
import { RANK } from '../rows/fragment.ts'
import { patchUuid, RowReader } from '../rows/row-binary.ts'

const A = '01a1f83d-55e5-7000-8000-0387a5c1ebd1'
const B = '5886f37f-82a1-4058-9185-c8bc773996bd'
const HEAD_A = `{"id":"${A}","name":"a","session_name":"corpus"}`

describe('decodeRequest of multipart', () => {
  it('INGEST-6: joins the parts of an operation in any order, and separates create and update', () => {
    const decoded = decodeParts([
      { name: `patch.${A}.outputs`, data: '{"x": 1}' },
      { name: `post.${A}.inputs`, data: '{"q": 1.0}' },
      { name: `post.${B}`, data: `{"name":"b"}`, length: 'header' },
      { name: `post.${A}`, data: HEAD_A, length: 'none' },
      { name: `patch.${A}`, data: '{"end_time":1795166133964}' },
    ])
    expect(decoded).toMatchObject({ count: 3, rejected: [], truncated: false, feedback_count: 0, blobs: [] })
    expect(plainFragments(decoded)).toEqual([
      {
        run_id: A,
        rank: RANK.update_with_end,
        project_id: NIL_UUID,
        head: '{"end_time":1795166133964}',
        outputs: '{"x": 1}',
      },
      { run_id: A, rank: RANK.create, project_id: NIL_UUID, head: HEAD_A, inputs: '{"q": 1.0}' },
      { run_id: B, rank: RANK.create, project_id: NIL_UUID, head: '{"name":"b"}' },
    ])
  })

  it('returns the projects with the positions of their ids; only a create without one gets the default', () => {
    const decoded = decodeParts([
      { name: `post.${A}`, data: HEAD_A },
      { name: `patch.${A}`, data: '{"session_name":" corpus "}' },
      { name: `post.${B}`, data: '{}' },
      { name: `patch.${B}`, data: `{"session_id":"${A.toUpperCase()}"}` },
    ])
    expect(decoded.projects.map(({ offsets, ...project }) => [project, offsets.length])).toEqual([
      [{ session_id: null, session_name: 'corpus' }, 2],
      [{ session_id: null, session_name: 'default' }, 1],
      [{ session_id: A, session_name: null }, 1],
    ])
    for (const { offsets, session_name } of decoded.projects) {
      for (const offset of offsets) patchUuid(decoded.rows, offset, session_name === 'corpus' ? A : B)
    }
    expect(plainFragments(decoded).map((fragment) => fragment.project_id)).toEqual([A, A, B, B])
    expect(decodeParts([{ name: `patch.${A}`, data: '{}' }]).projects).toEqual([])
  })

  it('INGEST-6: uses a correct length despite boundary-like bytes, and the boundary despite a wrong length', () => {
    const tricky = `x\r\n--${BOUNDARY}\r\ny`
    for (const stated of [0, 5, 999_999]) {
      const decoded = decodeParts([
        { name: `post.${A}.inputs`, data: tricky, length: 'header' },
        { name: `post.${A}.outputs`, data: '{"wrong":"length"}', stated },
        { name: `post.${A}`, data: HEAD_A },
      ])
      expect(decoded.rejected).toEqual([])
      expect(plainFragments(decoded)).toMatchObject([{ inputs: tricky, outputs: '{"wrong":"length"}' }])
    }
  })

  it('merges a second record of an operation into the first, where the first is not null', () => {
    const decoded = decodeParts([
      { name: `post.${A}`, data: '{"name":"old","tags":["t"],"big":12345678901234567890,"inputs":{"n":1}}' },
      { name: `post.${A}`, data: '{"name":"new","tags":null,"inputs":null,"outputs":[1.50]}' },
    ])
    expect(plainFragments(decoded)).toMatchObject([
      {
        head: '{"name":"new","tags":["t"],"big":12345678901234567890}',
        inputs: '{"n":1}',
        outputs: '[1.50]',
      },
    ])
  })

  it('splits big fields off the record; separate parts win; copies of other runs are dropped', () => {
    const child = `{"id":"${B}","inputs":{"deep":[]}}`
    const main = `{"name":"a","inputs":{"in":"record"},"child_runs":[${child}],"tags":[],"error":null,"extra":{"k": 1}}`
    const decoded = decodeParts([
      { name: `post.${A}.inputs`, data: '{"in":"part"}' },
      { name: `post.${A}`, data: main },
    ])
    expect(plainFragments(decoded)).toMatchObject([
      { head: '{"name":"a","tags":[]}', inputs: '{"in":"part"}', extra: '{"k": 1}' },
    ])
    expect(plainFragments(decoded)[0]).not.toHaveProperty('error')
  })

  it('INGEST-7: keeps text that is not JSON, and repairs bare numbers in the record only', () => {
    const weird = '[unable to serialize, circular reference is too complex to analyze]'
    const decoded = decodeParts([
      {
        name: `post.${A}`,
        data: '{"name":"NaN \\"NaN","a":NaN,"b":[-Infinity,Infinity],"outputs":{"n":NaN}}',
      },
      { name: `post.${A}.inputs`, data: weird },
      { name: `post.${B}`, data: '{"name":' },
      { name: `patch.${B}`, data: '[1]' },
    ])
    expect(plainFragments(decoded)).toMatchObject([
      { head: '{"name":"NaN \\"NaN","a":null,"b":[null,null]}', inputs: weird, outputs: '{"n":NaN}' },
    ])
    expect(decoded.rejected).toMatchObject([
      { run_id: B, code: 'invalid_json', status: 400 },
      { run_id: B, code: 'invalid_field', status: 422 },
    ])
  })

  it('keeps NUL, lone surrogates, __proto__, invalid UTF-8 and a byte order mark without side effects', () => {
    const head = Buffer.concat([
      Buffer.from('{"__proto__":{"x":1},"name":"a\\u0000\\ud800'),
      Buffer.of(0xff),
      Buffer.from('"}'),
    ])
    const decoded = decodeParts([
      { name: `post.${A}`, data: head },
      { name: `post.${B}`, data: '\ufeff{"name":"b"}' },
    ])
    expect(decoded.rejected).toEqual([])
    expect(plainFragments(decoded)).toMatchObject([{ head: head.toString('utf8') }, { head: '{"name":"b"}' }])
    expect(({} as Record<string, unknown>)['x']).toBeUndefined()
  })

  it('rejects unusable parts and keeps the rest', () => {
    const decoded = decodeParts([
      { name: 'post.my-own-id', data: '{}' },
      { name: 'post.my-own-id.inputs', data: '{}' },
      { name: `post.${A}.nonsense`, data: '{}' },
      { name: 'hello', data: '{}' },
      { name: `post.${A}`, data: HEAD_A },
      { name: `attachment.${A}`, data: 'no name' },
    ])
    expect(decoded.count).toBe(1)
    expect(decoded.rejected.map(({ run_id, code, field }) => [run_id, code, field])).toEqual([
      ['my-own-id', 'invalid_run_id', 'id'],
      [A, 'unknown_part', `post.${A}.nonsense`],
      [null, 'unknown_part', 'hello'],
      [A, 'unknown_part', `attachment.${A}`],
    ])
    expect(decoded.rejected[0]!.error).toBe(
      'Unprocessable entity: error parsing run for post.my-own-id: schema validation failed: id: Must validate one and only one schema (oneOf)',
    )
  })

  it('reads part headers in any case, order and quoting', () => {
    const part = (headers: string, data: string) => `--${BOUNDARY}  \r\n${headers}\r\n\r\n${data}\r\n`
    const body = [
      'preamble\r\n',
      part(`content-length: 2\r\nCONTENT-DISPOSITION: form-data; filename="x"; name=post.${A}`, '{}'),
      part(
        `Content-Disposition: form-data; name*=UTF-8''attachment.${A}.%C3%A9\r\nContent-Type: text/plain; charset=utf-8; length=3`,
        'one',
      ),
      part(`Content-Disposition: form-data; name="attachment.${A}.a%22b"`, 'two'),
      part(`Content-Disposition: form-data; name="attachment.${A}.a\\"c"`, 'three'),
      part('', 'no headers at all'),
      part(`Content-Disposition: form-data; name="post.${B}"\r\nContent-Encoding: gzip`, '{}'),
      `--${BOUNDARY}--\r\nepilogue`,
    ]
    const decoded = decodeRequest(requestHead(), Buffer.from(body.join('')))
    const [fragment] = plainFragments(decoded)
    expect(JSON.parse(String(fragment!['attachments']))).toMatchObject({
      'a"b': { mime_type: 'application/octet-stream', size: 3 },
      'a"c': { size: 5 },
      é: { mime_type: 'text/plain; charset=utf-8', size: 3 },
    })
    expect(decoded.rejected.map(({ run_id, code }) => [run_id, code])).toEqual([
      [null, 'unknown_part'],
      [B, 'unsupported_encoding'],
    ])
  })

  it('reads the part after one without a blank line', () => {
    const lost = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="post.${B}"\r\n`
    const decoded = decodeRequest(
      requestHead(),
      Buffer.concat([Buffer.from(lost), multipartBody([{ name: `post.${A}`, data: HEAD_A }])]),
    )
    expect(plainFragments(decoded)).toMatchObject([{ run_id: A }])
    expect(decoded.rejected).toMatchObject([{ code: 'unknown_part' }])
  })

  it('finds the boundary in the body when the Content-Type has none', () => {
    const body = multipartBody([{ name: `post.${A}`, data: HEAD_A }])
    expect(decodeRequest(requestHead({ content_type: '' }), body).count).toBe(1)
    const quoted = requestHead({ content_type: `Multipart/Form-Data; charset=x; boundary="${BOUNDARY}"` })
    expect(decodeRequest(quoted, body).count).toBe(1)
  })
})

describe('decodeRequest of attachments and feedback', () => {
  it('puts attachments on the create, else the update, else on an update of their own', () => {
    const picture = Buffer.from([0x89, 0x50, 0, 0xff])
    const decoded = decodeParts([
      { name: `attachment.${A}.pic`, data: 'replaced', type: 'text/plain' },
      { name: `attachment.${A}.pic`, data: picture, type: 'image/png' },
      { name: `attachment.${A}.__proto__`, data: picture, type: 'image/png' },
      { name: `patch.${A}`, data: '{"tags":["t"]}' },
      { name: `post.${A}`, data: HEAD_A },
      { name: `attachment.${B}.note`, data: 'x', type: 'text/plain', length: 'none' },
    ])
    const [update, create, alone] = plainFragments(decoded)
    expect(update).not.toHaveProperty('attachments')
    const sha256 = decoded.blobs[0]!.sha256
    expect(create!['attachments']).toBe(
      `{"__proto__":{"mime_type":"image/png","size":4,"sha256":"${sha256}"},"pic":{"mime_type":"image/png","size":4,"sha256":"${sha256}"}}`,
    )
    expect(alone).toMatchObject({ run_id: B, rank: RANK.update, head: '{}' })
    expect(decoded.blobs.map((blob) => Buffer.from(blob.bytes).toString('latin1'))).toEqual([
      '\x89P\0\xff',
      'x',
    ])
    expect(decoded.blobs[0]!.bytes.buffer.byteLength).toBe(4)
  })

  it('keeps no attachment of a rejected TraceRun', () => {
    const decoded = decodeParts([
      { name: `attachment.${A}.pic`, data: 'x' },
      { name: `post.${A}`, data: '{"start_time":"soon"}' },
    ])
    expect(decoded).toMatchObject({
      count: 0,
      blobs: [],
      rejected: [{ run_id: A, code: 'invalid_timestamp' }],
    })
  })

  it('keeps feedback as sent, with its ids', () => {
    const text = `{"run_id": "${B.replaceAll('-', '')}", "key":"score", "score":0.50}`
    const decoded = decodeParts([
      { name: `feedback.${A}`, data: text },
      { name: `feedback.${B}`, data: '{"run_id":null,"score":1}' },
      { name: 'feedback.x', data: '{"key":"k"}' },
    ])
    expect(decoded.feedback_count).toBe(1)
    const reader = new RowReader(decoded.feedback_rows)
    const ids = [reader.uuid(), reader.uuid(), reader.uuid(), reader.uuid()]
    expect(ids).toEqual([requestHead().workspace_id, B, A, NIL_UUID])
    expect([Number(reader.i64()), reader.string(), reader.done]).toEqual([
      requestHead().received_at,
      text,
      true,
    ])
    expect(decoded.rejected.map(({ run_id, code, field }) => [run_id, code, field])).toEqual([
      [B, 'missing_field', 'key'],
      ['x', 'invalid_field', 'id'],
    ])
  })
})
