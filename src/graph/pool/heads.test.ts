import { expect, it } from 'vitest'
import type { JsonObject } from '../../schema/json.ts'
import { FROM_USER_AUTH_HEADS } from '../user-auth/messages.ts'
import { assertHead } from './heads.ts'
import { FROM_HOST_HEADS } from './messages.ts'

const FAILURE = { graph_id: 'g', file: '/g.ts', line: null, reason: 'r', message: 'm' }
const FAILED = { kind: 'failed', error: 'E', message: 'm', retryable: false }

it.each<JsonObject>([
  { type: 'opened', failures: [FAILURE] },
  { type: 'log', id: null, level: 'warn', text: 't', fields: null, node: null },
  { type: 'end', id: 1, end: { kind: 'done' }, state: null, values: 'none' },
  { type: 'end', id: 1, end: FAILED, state: { next: [], interrupts: {} }, values: 'none' },
  { type: 'refused', id: 1, code: 'not_found', message: 'm', broken: true },
  { type: 'beat', more: [] },
])('a head of a host is accepted: %j', (head) =>
  expect(() => assertHead(FROM_HOST_HEADS, head)).not.toThrow(),
)

it.each<[JsonObject, string]>([
  [{ type: 'constructor' }, 'its type is not known'],
  [{}, 'its type is not known'],
  [
    { type: 'opened', failures: [{ ...FAILURE, reason: 1 }] },
    'its field "failures" of "opened" is not valid',
  ],
  [{ type: 'log', id: 1, level: 'constructor', text: 't' }, 'its field "level" of "log" is not valid'],
  [{ type: 'items', id: 1, events: 7 }, 'its field "events" of "items" is not valid'],
  [{ type: 'items', id: 'a', events: [] }, 'its field "id" of "items" is not valid'],
  [{ type: 'end', id: 1, end: {}, state: null, values: 'none' }, 'its field "end" of "end" is not valid'],
  [
    { type: 'end', id: 1, end: { ...FAILED, error: 7 }, state: null, values: 'none' },
    'its field "end" of "end" is not valid',
  ],
  [
    { type: 'answer', id: 1, state: { next: 'n', interrupts: {} } },
    'its field "state" of "answer" is not valid',
  ],
  [{ type: 'refused', id: 1, code: 'toString', message: 'm' }, 'its field "code" of "refused" is not valid'],
])('D-64: a head of a host is refused: %j', (head, reason) =>
  expect(() => assertHead(FROM_HOST_HEADS, head)).toThrow(reason),
)

it('D-64: a user of an auth file has the fields that the server reads', () => {
  const user = { identity: 'i', display_name: 'i', is_authenticated: true, permissions: [] }
  assertHead(FROM_USER_AUTH_HEADS, { type: 'user', id: 1, user })
  expect(() =>
    assertHead(FROM_USER_AUTH_HEADS, { type: 'user', id: 1, user: { ...user, permissions: 'all' } }),
  ).toThrow('its field "user" of "user" is not valid')
})
