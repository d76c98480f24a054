import { gzipSync, zstdCompressSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { captureOf } from './capture.ts'

const JSON_TEXT = Buffer.from('{"post":[]}')
describe('captureOf', () => {
  it.each([
    ['', JSON_TEXT],
    ['gzip', gzipSync(JSON_TEXT)],
    ['zstd', zstdCompressSync(JSON_TEXT)],
    ['', Buffer.from('{}')],
    ['', Buffer.alloc(0)],
  ])('detects the encoding %j by the first bytes', (content_encoding, body) => {
    expect(captureOf(body)).toEqual({ content_type: '', content_encoding, body })
  })

  it('opens the dump of a failed request', () => {
    const dump = {
      version: 1,
      endpoint: 'runs/multipart',
      headers: { 'Content-Type': 'multipart/form-data; boundary=b', 'Content-Encoding': 'gzip' },
      body_base64: gzipSync('--b--').toString('base64'),
    }
    expect(captureOf(Buffer.from(JSON.stringify(dump)))).toEqual({
      content_type: 'multipart/form-data; boundary=b',
      content_encoding: 'gzip',
      body: gzipSync('--b--'),
    })
  })

  it('detects a dump without headers by its bytes', () => {
    const dump = { body_base64: gzipSync(JSON_TEXT).toString('base64') }
    expect(captureOf(Buffer.from(JSON.stringify(dump)))).toMatchObject({ content_encoding: 'gzip' })
  })

  it.each(['{"body_base64": 1}', '{"body_base64": "e30=', '{"inputs": {"body_base64": "e30="}}'])(
    'leaves %s as it is',
    (text) => {
      expect(captureOf(Buffer.from(text))).toMatchObject({
        content_type: '',
        body: Buffer.from(text),
      })
    },
  )
})
