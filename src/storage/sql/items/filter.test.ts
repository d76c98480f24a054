import { expect, it } from 'vitest'
import { parseExact } from '../../../schema/exact-json.ts'
import type { JsonObject } from '../../../schema/json.ts'
import { matchesFilter } from './filter.ts'

it.each([
  ['{"id":9007199254740993}', true],
  ['{"id":9007199254740992}', false],
  ['{"id":{"$eq":9007199254740993}}', true],
  ['{"id":{"$eq":9007199254740992}}', false],
  ['{"id":{"$ne":9007199254740993}}', false],
  ['{"id":{"$in":[1,9007199254740993]}}', true],
  ['{"id":{"$nin":[9007199254740993]}}', false],
  ['{"id":{"$gt":9007199254740000,"$lt":9007199254750000}}', true],
  ['{"id":{"$gte":12345678901234567890}}', false],
])('RUN-38: an integer beyond 2^53 is found by its digits: %s is %s', (filter, isFound) => {
  const value = parseExact('{"id":9007199254740993}') as JsonObject
  expect(matchesFilter(value, parseExact(filter) as JsonObject)).toBe(isFound)
})
