import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import { describe, expect, it, vi } from 'vitest'
import {
  hostileServer,
  multipartType,
  rawHead,
  toolRun,
  toolRunPart,
} from '../../support/faults/hostile-server.ts'
import { jsonPart } from '../../support/servers/load.ts'
import { BOUNDARY, multipartBody } from '../../support/traces/wire-body.ts'
import { LONG_MS } from '../../support/campaign.ts'

// A server starts, and gets bodies of many megabytes.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

const server = hostileServer()
const MB = 1024 * 1024

const { expectStored, expectAbsent } = server

describe('multipart framing', () => {
  it('a body without any boundary, named or not', async () => {
    const body = multipartBody([toolRunPart(randomUUID())])
    for (const type of [
      'multipart/form-data',
      'multipart/form-data; boundary=',
      'text/plain',
      'multipart/form-data; boundary=other',
    ]) {
      for (const bytes of [
        Buffer.from('no boundary here'),
        Buffer.alloc(0),
        Buffer.from('\r\n\r\n'),
        body.subarray(0, 5),
      ]) {
        const { status, body: answer } = await server.send('/runs/multipart', bytes, { 'content-type': type })
        expect([400, 415]).toContain(status)
        expect(['invalid_multipart', 'unsupported_media_type']).toContain(answer.code)
      }
    }
  })

  it('wrong lengths, in the parameter and in the header', async () => {
    const ids: string[] = []
    for (const length of ['parameter', 'header'] as const) {
      for (const stated of [0, 1, 10_000, 2 ** 31, 2 ** 53, -1, 1e21, Number.NaN]) {
        const id = randomUUID()
        const parts = [
          toolRunPart(id),
          { ...jsonPart(`post.${id}.inputs`, { a: 1 }), length, stated },
          jsonPart(`post.${id}.outputs`, { b: 2 }),
        ]
        const answer = await server.sendParts(parts)
        expect(answer).toMatchObject({ status: 202, body: { accepted: 1, rejected: [] } })
        ids.push(id)
      }
    }
    for (const id of ids) await expectStored(id, { inputs: { a: 1 }, outputs: { b: 2 } })
  })

  it('the same part several times: the last one is used', async () => {
    const id = randomUUID()
    const inputs = Array.from({ length: 50 }, (_, n) => jsonPart(`post.${id}.inputs`, { n }))
    const answer = await server.sendParts([toolRunPart(id), toolRunPart(id), ...inputs, toolRunPart(id)])
    expect(answer).toMatchObject({ status: 202, body: { accepted: 1, rejected: [] } })
    await expectStored(id, { inputs: { n: 49 } })
  })

  it('unknown part names, and parts without headers', async () => {
    const id = randomUUID()
    const names = [
      '',
      '.',
      '..',
      'post',
      'post.',
      `post.${id}.`,
      `post.${id}.unknown`,
      `drop.${id}`,
      `attachment.${id}`,
      'feedback.x',
      'a'.repeat(100_000),
      `post.${'.'.repeat(1000)}`,
    ]
    const strange = names.map((name) => ({ name, data: '{}' }))
    const answer = await server.sendParts([...strange, toolRunPart(id)])
    expect(answer.status).toBe(202)
    expect(answer.body.rejected?.length).toBeGreaterThanOrEqual(names.length - 1)
    await expectStored(id)
    const headers = [
      '',
      ':',
      'x',
      'Content-Disposition: form-data',
      `Content-Disposition: ${';'.repeat(60_000)}`,
      `${'x: y\r\n'.repeat(9_000)}z: z`,
    ]
    const stored: string[] = []
    for (const text of headers) {
      const good = randomUUID()
      const odd = Buffer.from(`--${BOUNDARY}\r\n${text}\r\n\r\ndata\r\n`)
      const sent = await server.send(
        '/runs/multipart',
        Buffer.concat([odd, multipartBody([toolRunPart(good)])]),
        multipartType(),
      )
      expect(sent).toMatchObject({ status: 202, body: { accepted: 1 } })
      stored.push(good)
    }
    for (const good of stored) await expectStored(good)
  })
})

describe('compression', () => {
  it('a decompression bomb in gzip', async () => {
    const bomb = Buffer.concat(Array.from({ length: 20_000 }, () => gzipSync('x')))
    const headers = { ...multipartType(), 'content-encoding': 'gzip' }
    const answer = await server.send('/runs/multipart', bomb, headers)
    expect([400, 413]).toContain(answer.status)
    expect(answer.retryAfter).toBeNull()
  })

  it('headers that contradict the body', async () => {
    const body = multipartBody([toolRunPart(randomUUID())])
    const lies: [string, Uint8Array, number][] = [
      ['gzip', body, 400],
      ['zstd', body, 400],
      ['zstd', gzipSync(body), 400],
      ['', gzipSync(body), 400],
      ['compress', body, 415],
      ['gzip, gzip', gzipSync(body), 415],
      ['__proto__', body, 415],
      ['gzip', Buffer.alloc(0), 400],
      ['zstd', Buffer.alloc(0), 400],
      ['gzip', Buffer.alloc(100_000, 0x1f), 400],
    ]
    for (const [encoding, bytes, status] of lies) {
      const headers = { ...multipartType(), ...(encoding !== '' && { 'content-encoding': encoding }) }
      const answer = await server.send('/runs/multipart', bytes, headers)
      expect(answer.status, `${encoding} ${bytes.length} ${answer.body.code}`).toBe(status)
    }
  })

  it('a stream that stops early keeps its complete runs', async () => {
    const ids = Array.from({ length: 200 }, () => randomUUID())
    // A truncated zstd stream can be read up to its last whole block of 128 KB.
    const noise = () => Array.from({ length: 150 }, () => randomUUID())
    const body = multipartBody(ids.flatMap((id) => [toolRunPart(id), jsonPart(`post.${id}.inputs`, noise())]))
    for (const [encoding, packed] of [
      ['gzip', gzipSync(body)],
      ['zstd', zstdCompressSync(body)],
    ] as const) {
      const half = packed.subarray(0, packed.length / 2)
      const answer = await server.send('/runs/multipart', half, {
        ...multipartType(),
        'content-encoding': encoding,
      })
      expect(answer, encoding).toMatchObject({ status: 202, body: { truncated: true } })
      expect(answer.body.accepted).toBeGreaterThan(20)
      expect(answer.body.accepted).toBeLessThan(200)
      await expectStored(ids[0] ?? '')
      await expectAbsent(ids.at(-1) ?? '')
    }
  })
})

describe('connections', () => {
  const chunk = (bytes: Uint8Array): Buffer =>
    Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')])

  it.each(['end', 'reset'] as const)('a body that stops in the middle by %s', async (how) => {
    for (const framing of ['length', 'chunked']) {
      const [whole, cut, json] = [randomUUID(), randomUUID(), randomUUID()]
      const body = multipartBody([
        toolRunPart(whole),
        jsonPart(`post.${whole}.inputs`, { a: 1 }),
        jsonPart(`post.${cut}`, { ...toolRun(cut), name: 'y'.repeat(500) }),
      ])
      const part = body.subarray(0, body.length - 300)
      const frame =
        framing === 'length' ? { 'content-length': String(body.length) } : { 'transfer-encoding': 'chunked' }
      const bytes = (data: Uint8Array) => (framing === 'length' ? data : chunk(data))
      await sendUntilRead(whole, how, [
        rawHead('/runs/multipart', { ...multipartType(), ...frame }),
        bytes(part),
      ])
      await expectStored(whole, { inputs: { a: 1 } })
      await expectAbsent(cut)
      const record = Buffer.from(JSON.stringify({ post: [toolRun(json)] }))
      const length = framing === 'length' ? { 'content-length': String(record.length + 5) } : frame
      await server.raw(
        [
          rawHead('/runs/batch', { 'content-type': 'application/json', ...length }),
          bytes(record.subarray(0, -4)),
        ],
        how,
      )
      await expectAbsent(json)
    }
  })

  /**
   * The server may or may not have read a request whose client has disconnected, because a reset discards bytes that
   * are not read yet. So the request is repeated until the TraceRun can be read, each time with a longer pause before
   * the reset.
   */
  async function sendUntilRead(id: string, how: 'end' | 'reset', pieces: (string | Uint8Array)[]) {
    for (let pauseMs = 100; ; pauseMs *= 2) {
      await server.raw(pieces, how, pauseMs)
      for (let i = 0; i < 100; i++) {
        if ((await server.weir().fetch(`/api/v1/runs/${id}`)).status === 200) return
        await delay(20)
      }
    }
  }

  it('requests that are barely HTTP', async () => {
    const type = multipartType()
    const requests: [string, RegExp][] = [
      [rawHead('/runs/multipart', { ...type, 'content-length': 'abc' }), /^HTTP\/1\.1 400/],
      [rawHead('/runs/multipart', { ...type, 'content-length': '-1' }), /^HTTP\/1\.1 400/],
      [rawHead('/runs/multipart', { ...type, 'content-length': '99999999999999999999' }), /^HTTP\/1\.1 4/],
      [rawHead('/runs/multipart', { ...type, 'content-length': String(300 * MB) }), /^HTTP\/1\.1 413/],
      [
        rawHead('/runs/multipart', { ...type, 'content-length': '5', 'transfer-encoding': 'chunked' }),
        /^HTTP\/1\.1 400/,
      ],
      [`${rawHead('/runs/multipart', { ...type, 'transfer-encoding': 'chunked' })}zz\r\n`, /^HTTP\/1\.1 400/],
      [rawHead('/runs/multipart', { ...type, 'x-large': 'x'.repeat(100_000) }), /^HTTP\/1\.1 431/],
      ['\0\0\0\0\r\n\r\n', /^HTTP\/1\.1 400/],
      ['POST /runs/multipart HTTP/9.9\r\n\r\n', /^HTTP\/1\.1 (400|505)/],
      [
        `POST /${'a'.repeat(10_000)}%zz HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n`,
        /^HTTP\/1\.1 40[14]/,
      ],
      ['PATCH /runs/%ff%fe HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\n{}', /^HTTP\/1\.1 4/],
    ]
    for (const [text, expected] of requests)
      expect(await server.raw([text], 'wait'), text.slice(0, 300)).toMatch(expected)
  })
})
