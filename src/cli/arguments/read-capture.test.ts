import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readCapture } from './read-capture.ts'

const JSON_TEXT = Buffer.from('{"post":[]}')
let dir: string

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'weir-capture-'))
})
afterAll(() => rm(dir, { recursive: true }))

async function fileOf(bytes: Uint8Array | string): Promise<string> {
  const path = join(dir, 'capture')
  await writeFile(path, bytes)
  return path
}

describe('readCapture', () => {
  it.each([
    ['', JSON_TEXT],
    ['gzip', gzipSync(JSON_TEXT)],
    ['zstd', zstdCompressSync(JSON_TEXT)],
    ['', Buffer.from('{}')],
    ['', Buffer.alloc(0)],
  ])('detects the encoding %j by the first bytes', async (content_encoding, body) => {
    expect(await readCapture(await fileOf(body))).toEqual({ content_type: '', content_encoding, body })
  })

  it('opens the dump of a failed request', async () => {
    const dump = {
      version: 1,
      endpoint: 'runs/multipart',
      headers: { 'Content-Type': 'multipart/form-data; boundary=b', 'Content-Encoding': 'gzip' },
      body_base64: gzipSync('--b--').toString('base64'),
    }
    expect(await readCapture(await fileOf(JSON.stringify(dump)))).toEqual({
      content_type: 'multipart/form-data; boundary=b',
      content_encoding: 'gzip',
      body: gzipSync('--b--'),
    })
  })

  it('detects a dump without headers by its bytes', async () => {
    const dump = { body_base64: gzipSync(JSON_TEXT).toString('base64') }
    expect(await readCapture(await fileOf(JSON.stringify(dump)))).toMatchObject({ content_encoding: 'gzip' })
  })

  it.each(['{"body_base64": 1}', '{"body_base64": "e30=', '{"inputs": {"body_base64": "e30="}}'])(
    'leaves %s as it is',
    async (text) => {
      expect(await readCapture(await fileOf(text))).toMatchObject({
        content_type: '',
        body: Buffer.from(text),
      })
    },
  )

  it.each([
    ['missing', 'There is no such file.'],
    ['.', 'It is a folder: name the files in it.'],
  ])('gives the reason why %s cannot be read', async (name, message) => {
    await expect(readCapture(join(dir, name))).rejects.toMatchObject({ code: 'invalid_request', message })
  })
})
