import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { hostileServer, multipartType, rawHead } from '../support/hostile-server.ts'
import { jsonPart } from '../support/load.ts'
import { multipartBody } from '../support/wire-body.ts'

const server = hostileServer()

it('a sender that falls silent in its body is told so within the announced time, and cut off', async () => {
  const { weir } = await server.weir().json<{ weir: { limits: { body_idle_ms: number } } }>('/info')
  const body = multipartBody([jsonPart(`post.${randomUUID()}`, { name: 'x' })])
  const head = rawHead('/runs/multipart', { ...multipartType(), 'content-length': String(body.length) })
  const started = performance.now()
  const answer = await server.raw([head, body.subarray(0, 20)], 'wait')
  expect(answer).toMatch(/^HTTP\/1\.1 408 /)
  expect(answer).toContain('body_too_slow')
  const ms = performance.now() - started
  expect(ms).toBeGreaterThan(weir.limits.body_idle_ms - 100)
})
