import { describe, expect, it } from 'vitest'
import { parseExact } from '../../schema/exact-json.ts'
import type { JsonObject } from '../../schema/json.ts'
import type { AccessUser } from '../model.ts'
import { askFor, passesRuling } from './rulings.ts'

const USER: AccessUser = { identity: 'u', display_name: 'u', is_authenticated: true, permissions: [] }

async function seen(filter: JsonObject | null, metadata: JsonObject): Promise<boolean> {
  const ask = askFor({ ask: async (_user, _event, value) => ({ filter, value }) }, USER)
  return passesRuling(await ask('threads:read', {}), metadata)
}

describe('a filter', () => {
  it.each([
    [null, {}, true],
    [{}, {}, true],
    [{ owner: 'a' }, { owner: 'a', more: 1 }, true],
    [{ owner: 'a' }, { owner: 'b' }, false],
    [{ owner: 'a' }, {}, false],
    [{ owner: 'a' }, { owner: ['a'] }, false],
    [{ owner: { $eq: 'a' } }, { owner: 'a' }, true],
    [{ owner: { $eq: 'a' } }, { owner: 'b' }, false],
    [{ owner: { $eq: '' } }, { owner: 'b' }, false],
    [{ owner: { $eq: null } }, {}, false],
    [{ owner: null }, {}, false],
    [{ team: { $contains: 'x' } }, { team: ['x', 'y'] }, true],
    [{ team: { $contains: 'x' } }, { team: ['y'] }, false],
    [{ team: { $contains: 'x' } }, { team: 'x' }, false],
    [{ team: { $contains: ['x', 'y'] } }, { team: ['y', 'x', 'z'] }, true],
    [{ team: { $contains: ['x', 'q'] } }, { team: ['x'] }, false],
    [{ owner: 'a', team: { $contains: 'x' } }, { owner: 'a', team: [] }, false],
    [{ constructor: 'a' }, {}, false],
    [{ toString: { $eq: 'a' } }, {}, false],
  ] as [JsonObject | null, JsonObject, boolean][])('%j on %j: %s', async (filter, metadata, expected) => {
    expect(await seen(filter, metadata)).toBe(expected)
  })

  it.each([
    ['{"owner":9007199254740993}', true],
    ['{"owner":9007199254740992}', false],
    ['{"owner":{"$eq":9007199254740993}}', true],
    ['{"team":{"$contains":12345678901234567890}}', true],
    ['{"team":{"$contains":12345678901234567891}}', false],
  ])('RUN-38: %s compares integers beyond 2^53 by all their digits: %s', async (filter, expected) => {
    const metadata = parseExact('{"owner":9007199254740993,"team":[12345678901234567890]}') as JsonObject
    expect(await seen(parseExact(filter) as JsonObject, metadata)).toBe(expected)
  })

  it.each([{ owner: {} }, { owner: { $ne: 'a' } }, { owner: { $eq: 'a', $or: [] } }] as JsonObject[])(
    '%j cannot be applied, so no record matches',
    async (filter) => {
      await expect(seen(filter, { owner: 'a' })).rejects.toMatchObject({ code: 'auth_failed' })
    },
  )
})
