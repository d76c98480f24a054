import { describe, expect, it } from 'vitest'
import { extracted, readPaths } from './extract-paths.ts'

const RECORD = {
  values: { messages: [{ content: 'first' }, { content: [{ text: 'last' }] }], 'a-b': { c: null } },
  metadata: { list: [[1, 2]] },
}

function at(path: string): unknown {
  return extracted(RECORD, readPaths({ it: path }))['it']
}

describe('extract of a thread search', () => {
  it.each([
    ['values.messages[0].content', 'first'],
    ['values.messages[-1].content[0].text', 'last'],
    ['metadata.list[0][1]', 2],
    ['values.a-b', { c: null }],
    ['values.a-b.c', null],
    ['values.a-b.c.d', null],
    ['values.messages[7]', null],
    ['values.messages.content', null],
    ['values[0]', null],
    ['metadata.constructor', null],
    ['nothing', null],
  ])('%s is %j', (path, expected) => {
    expect(at(path)).toEqual(expected)
  })

  it.each(['', '.', 'a..b', 'a.', 'a[', 'a[x]', 'a[1', 'a]', 'a[-]'])('%j is not a path', (path) => {
    expect(() => readPaths({ it: path })).toThrow('is not a path')
  })
})
