import { describe, expect, it } from 'vitest'
import { isUuid, isWhole, readPageCursor, writePageCursor } from './page-cursor.ts'

const ID = '0195f3a0-0000-7000-8000-0000000000aa'
const REQUEST = { filter: 'eq(name, "a")', project_ids: [ID] }
const cursor = writePageCursor(REQUEST, [17, ID])

describe('a cursor of a page', () => {
  it('returns its parts, for any order of the keys of the request', () => {
    const turned = { project_ids: [ID], filter: REQUEST.filter, later: undefined }
    expect(readPageCursor(cursor, turned, [isWhole, isUuid])).toEqual([17, ID])
  })

  it('is refused with other parameters', () => {
    expect(() => readPageCursor(cursor, { ...REQUEST, filter: 'eq(name, "b")' }, [isWhole, isUuid])).toThrow(
      'other parameters',
    )
  })

  it.each([
    '',
    'x',
    Buffer.from('{}').toString('base64url'),
    Buffer.from('[1,2').toString('base64url'),
    writePageCursor(REQUEST, [17]),
    writePageCursor(REQUEST, [17, ID, 1]),
    writePageCursor(REQUEST, ['17', ID]),
    writePageCursor(REQUEST, [1.5, ID]),
    writePageCursor(REQUEST, [17, 'no id']),
    writePageCursor(REQUEST, [null, ID]),
  ])('is refused when it is not valid: %j', (text) => {
    expect(() => readPageCursor(text, REQUEST, [isWhole, isUuid])).toThrow('cannot be read')
  })
})
