import { expect, it } from 'vitest'
import { readFilter } from './filter.ts'

it.each([
  ['userName eq "a@b.c"', { attribute: 'userName', value: 'a@b.c' }],
  ['USERNAME EQ "x"', { attribute: 'userName', value: 'x' }],
  ['urn:ietf:params:scim:schemas:core:2.0:User:externalId eq "1"', { attribute: 'externalId', value: '1' }],
  [String.raw`displayName eq "a \"b\" \\ c"`, { attribute: 'displayName', value: String.raw`a "b" \ c` }],
  ['', undefined],
  [undefined, undefined],
])('TEAM-10: the filter %j is %j', (text, filter) => {
  expect(readFilter(text)).toEqual(filter)
})

it.each([
  'userName',
  'userName co "a"',
  'title eq "a"',
  'userName eq "a" or userName eq "b"',
  'userName eq a',
  'a"b',
])('TEAM-10: the filter %j is refused', (text) => {
  expect(() => readFilter(text)).toThrow(/The filter must be/)
})
