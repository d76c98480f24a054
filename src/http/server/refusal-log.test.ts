import { expect, it } from 'vitest'
import { createLogger } from '../../base/log.ts'
import { AppError, type ErrorCode } from '../../base/errors.ts'
import { createRefusalLog, type RefusedCall } from './refusal-log.ts'
import { NOW, testClock } from '../../../test/support/faults/test-clock.ts'

function setUp() {
  const lines: { level: string; code: string; msg: string; others_since?: number }[] = []
  let now = NOW
  const logger = createLogger({ destination: { write: (line: string) => void lines.push(JSON.parse(line)) } })
  const log = createRefusalLog({ logger, clock: testClock(() => now) })
  const note = (code: ErrorCode, changes: Partial<RefusedCall> = {}): void =>
    log.note({
      what: 'POST /v1/traces',
      headers: {},
      from: '10.0.0.7',
      error: new AppError(code),
      ...changes,
    })
  return { lines, log, note, pass: (ms: number) => void (now += ms) }
}

it('logs caller, route and reason of a refusal, without the key', () => {
  const { lines, log, note } = setUp()
  const secret = 'lsv2_secret_0123456789'
  note('unauthorized')
  note('unauthorized', { what: 'a', headers: { 'x-api-key': secret } })
  note('unauthorized', { what: 'b', headers: { authorization: `Bearer ${secret}` } })
  note('unauthorized', { what: 'c', headers: { authorization: secret } })
  // A browser checks whether it is signed in.
  note('unauthorized', { what: 'GET /auth/session' })
  note('forbidden')
  note('workspace_required')
  note('unsupported_media_type', { headers: { 'content-type': 'text/plain\n"' } })
  note('unsupported_media_type', { what: 'd' })
  note('unsupported_encoding', { headers: { 'content-encoding': 'lz4' } })
  log.noteProtocol('a connection', undefined, 'it speaks HTTP/2')
  expect(lines.map(({ msg }) => msg)).toEqual([
    'refused POST /v1/traces from 10.0.0.7: it has no key; x-api-key or Authorization: Bearer carries one',
    'refused a from 10.0.0.7: this server does not know the key in x-api-key, or it was revoked or has expired',
    'refused b from 10.0.0.7: this server does not know the key in Authorization: Bearer, or it was revoked or has expired',
    'refused c from 10.0.0.7: this server does not know the key in Authorization, or it was revoked or has expired',
    'refused POST /v1/traces from 10.0.0.7: its key does not allow this, or not in the workspace of X-Tenant-Id',
    `refused POST /v1/traces from 10.0.0.7: ${new AppError('workspace_required').message}`,
    'refused POST /v1/traces from 10.0.0.7: its Content-Type is "text/plain\\n\\""',
    'refused d from 10.0.0.7: its Content-Type is not given',
    'refused POST /v1/traces from 10.0.0.7: it is compressed with "lz4"',
    'refused a connection from an unknown address: it speaks HTTP/2',
  ])
  expect(new Set(lines.map(({ level }) => level))).toEqual(new Set(['warn']))
  expect(lines[0]?.code).toBe('unauthorized')
  expect(JSON.stringify(lines)).not.toContain(secret)
})

it('logs the same refusal once a minute, with the number of those in between', () => {
  const { lines, note, pass } = setUp()
  for (let i = 0; i < 500; i++) note('unauthorized')
  note('unauthorized', { from: '10.0.0.8' })
  expect(lines).toHaveLength(2)
  pass(59_999)
  note('unauthorized')
  expect(lines).toHaveLength(2)
  pass(1)
  note('unauthorized')
  expect(lines).toHaveLength(3)
  expect(lines[2]?.others_since).toBe(500)
})

it('does not log refusals that clients handle by themselves', () => {
  const { lines, note } = setUp()
  for (const code of ['overloaded', 'log_full', 'body_too_large', 'invalid_json', 'internal'] as const)
    note(code)
  expect(lines).toEqual([])
})

it('limits the number of causes that it remembers', () => {
  const { lines, note, pass } = setUp()
  for (let i = 0; i < 5000; i++) note('unauthorized', { from: `10.0.${i >> 8}.${i & 255}` })
  expect(lines).toHaveLength(201)
  pass(60_000)
  for (let i = 0; i < 5000; i++) note('unauthorized', { from: `10.1.${i >> 8}.${i & 255}` })
  expect(lines).toHaveLength(402)
})
