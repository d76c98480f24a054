import { randomUUID } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { hostileServer, multipartType, toolRun, toolRunPart } from '../../support/faults/hostile-server.ts'
import { jsonPart } from '../../support/servers/load.ts'

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

  it('a bomb in gzip', async () => {
    const bomb = gzipSync(Buffer.alloc(300 * MB))
    const headers = { ...multipartType(), 'content-encoding': 'gzip' }
    const answer = await server.send('/runs/multipart', bomb, headers)
    expect([400, 413]).toContain(answer.status)
    expect(answer.retryAfter).toBeNull()
  })
})
