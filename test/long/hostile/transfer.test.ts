import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import { describe, expect, it, vi } from 'vitest'
import { hostileServer, multipartType, toolRun, toolRunPart } from '../../support/faults/hostile-server.ts'
import { jsonPart } from '../../support/servers/load.ts'
import { multipartBody } from '../../support/traces/wire-body.ts'
import { LONG_MS } from '../../support/campaign.ts'

// A server starts, and gets bodies of many megabytes.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

const server = hostileServer()
const MB = 1024 * 1024

const { expectStored, expectAbsent } = server

describe('requests at and above the size limits', () => {
  it('25,000 parts are accepted and 25,001 are not', async () => {
    const ids = Array.from({ length: 12_500 }, () => randomUUID())
    const parts = ids.flatMap((id) => [toolRunPart(id), jsonPart(`post.${id}.inputs`, { id })])
    const answer = await server.sendParts(parts)
    expect(answer).toMatchObject({ status: 202, body: { accepted: 12_500, rejected: [] } })
    console.log(`25,000 parts: acknowledged in ${Math.round(answer.ms)} ms`)
    const last = ids.at(-1) ?? ''
    await expectStored(last, { inputs: { id: last } })
    const more = await server.sendParts([...parts, jsonPart(`post.${last}.outputs`, {})])
    expect(more).toMatchObject({ status: 413, retryAfter: null, body: { code: 'too_many_parts' } })
    const batch = await server.sendBatch({
      post: Array.from({ length: 25_001 }, () => toolRun(randomUUID())),
    })
    expect(batch).toMatchObject({ status: 413, body: { code: 'too_many_parts' } })
  })

  it('a part of 20 MB is stored, one above the limit fails only its own run', async () => {
    const [large, tooLarge, good] = [randomUUID(), randomUUID(), randomUUID()]
    const text = 'lorem ipsum '.repeat((20 * MB) / 12)
    const kept = await server.sendParts([toolRunPart(large), jsonPart(`post.${large}.inputs`, { text })])
    expect(kept).toMatchObject({ status: 202, body: { accepted: 1, rejected: [] } })
    console.log(`20 MB part: acknowledged in ${Math.round(kept.ms)} ms`)
    expect(((await server.read(large))['inputs'] as { text: string }).text).toBe(text)
    const over = { name: `post.${tooLarge}.inputs`, data: `"${'x'.repeat(50 * MB)}"` }
    const refused = await server.sendParts([toolRunPart(tooLarge), over, toolRunPart(good)])
    expect(refused).toMatchObject({
      status: 202,
      body: { accepted: 1, rejected: [{ run_id: tooLarge, code: 'run_too_large', field: 'inputs' }] },
    })
    await expectStored(good)
    await expectAbsent(tooLarge)
  })

  const zeros = (): Buffer => Buffer.alloc(300 * MB)
  it.each([
    ['gzip', () => gzipSync(zeros())],
    ['zstd', () => zstdCompressSync(zeros())],
    ['zstd', () => Buffer.concat(Array.from({ length: 100_000 }, () => SMALL_FRAME))],
  ])('a decompression bomb in %s', async (encoding, make) => {
    const bomb = make()
    const headers = { ...multipartType(), 'content-encoding': encoding }
    const answer = await server.send('/runs/multipart', bomb, headers)
    console.log(
      `${encoding} bomb of ${bomb.length} bytes: ${answer.status} ${answer.body.code} in ${Math.round(answer.ms)} ms`,
    )
    expect([400, 413]).toContain(answer.status)
    expect(answer.retryAfter).toBeNull()
  })
  const SMALL_FRAME = zstdCompressSync('x')
})

describe('connections', () => {
  it('slow senders delay no other client', async () => {
    const ids = Array.from({ length: 100 }, () => randomUUID())
    const answered = Promise.withResolvers<void>()
    const drips = ids.map(async (id) => {
      const body = multipartBody([toolRunPart(id)])
      const pieces = Array.from({ length: 10 }, (_, i) =>
        body.subarray((i * body.length) / 10, ((i + 1) * body.length) / 10),
      )
      const stream = new ReadableStream({
        async pull(controller) {
          const piece = pieces.shift()
          if (piece === undefined) return controller.close()
          if (pieces.length === 0) await answered.promise
          await delay(100)
          controller.enqueue(piece)
        },
      })
      const init = { method: 'POST', headers: multipartType(), body: stream, duplex: 'half' } as RequestInit
      return (await server.weir().fetch('/runs/multipart', init)).status
    })
    const times: number[] = []
    for (let i = 0; i < 20; i++) {
      const { status, ms } = await server.sendParts([toolRunPart(randomUUID())])
      expect(status).toBe(202)
      times.push(ms)
    }
    console.log(`beside 100 slow senders: acknowledged within ${Math.round(Math.max(...times))} ms`)
    answered.resolve()
    expect(new Set(await Promise.all(drips))).toEqual(new Set([202]))
    for (const id of ids.slice(0, 3)) await expectStored(id)
  })
})
