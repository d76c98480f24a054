import { expect, it } from 'vitest'
import { mentionAt, mentionedIn, mentionParts } from './mentions.ts'

const PEOPLE = [
  { id: '1', name: 'Ada' },
  { id: '2', name: 'Ada Lovelace' },
  { id: '3', name: 'grace@example.com' },
]

it('finds the name that is being typed at the cursor', () => {
  expect(mentionAt('ask @Ad', 7)).toEqual({ from: 4, typed: 'Ad' })
  expect(mentionAt('@', 1)).toEqual({ from: 0, typed: '' })
  expect(mentionAt('a@b', 3)).toBeUndefined()
  expect(mentionAt('@Ada\nnext', 9)).toBeUndefined()
  expect(mentionAt('none', 4)).toBeUndefined()
})

it('divides a text at the names of people, of which the longest counts', () => {
  expect(mentionedIn('@Ada Lovelace and @grace@example.com, @Ada Lovelace', PEOPLE)).toEqual(['2', '3'])
  expect(mentionedIn('mail ada@example.com', PEOPLE)).toEqual([])
  expect(mentionParts('see @Ada!', PEOPLE)).toEqual([
    { text: 'see ', person: undefined },
    { text: '@Ada', person: PEOPLE[0] },
    { text: '!', person: undefined },
  ])
  expect(mentionParts('', PEOPLE)).toEqual([])
})
