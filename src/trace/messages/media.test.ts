import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { expectCpuBelow } from '../../../test/support/cpu-bound.ts'
import { withoutMedia } from './media.ts'
import { someInShort } from '../../../test/support/length.ts'

const base64 = randomBytes(3000).toString('base64')

describe('withoutMedia', () => {
  it.each([
    ['an image URL', `see data:image/png;base64,${base64} there`, 'see  there'],
    ['a URL within JSON', `{"url":"data:image/png;base64,${base64}"}`, '{"url":""}'],
    ['a URL with parameters', 'x data:text/plain;charset=utf-8;base64,SGVsbG8sIHdvcmxk y', 'x  y'],
    [
      'a URL that is not base64',
      '<img src="data:image/svg+xml,%3Csvg%20xmlns%3D%22x%22%3E">',
      '<img src="">',
    ],
    ['bare base64', `before ${base64} after`, 'before  after'],
    ['bare base64 with padding', `"${randomBytes(1000).toString('base64')}"`, '""'],
    ['url-safe base64', randomBytes(3000).toString('base64url'), ''],
    ['several runs', `${base64}, ${base64}`, ', '],
    ['base64 in lines', `a: ${base64.replace(/.{76}/g, '$&\r\n')}\n\nend`, 'a: \n\nend'],
    ['PEM', `${base64.replace(/.{64}/g, '$&\n')}\n-----END-----`, '\n-----END-----'],
  ])('leaves out %s', (_, text, kept) => {
    expect(withoutMedia(text)).toEqual({ text: kept, removed: text.length - kept.length })
  })

  it.each([
    ['a word repeated', 'a'.repeat(5000)],
    ['hex', randomBytes(3000).toString('hex')],
    ['upper-case hex', randomBytes(3000).toString('hex').toUpperCase()],
    ['digits', '0123456789'.repeat(500)],
    ['short base64', randomBytes(600).toString('base64')],
    ['a long URL', `https://example.com/a?${'Key1=Value2&'.repeat(300)}`],
    ['prose', 'Base64 mixes UPPER, lower and 0123456789 without spaces. '.repeat(100)],
    ['words in lines', 'Word1\nWord2\nWord3\n'.repeat(200)],
    ['data: that is no URL', 'data: none, data:x, metadata:a/b and data:text/plain'],
    ['nothing', ''],
  ])('keeps %s', (_, text) => {
    expect(withoutMedia(text)).toEqual({ text, removed: 0 })
  })

  it.each(
    someInShort(
      [
        ['data: repeated', 'data:'.repeat(200_000)],
        ['endless media types', `data:${'a/'.repeat(500_000)}`],
        ['endless parameters', `data:a/b${';a=b'.repeat(250_000)}`],
        ['runs just too short', `${'aB3'.repeat(341)} `.repeat(1000)],
        ['lines just long enough', `${'a'.repeat(60)}\n`.repeat(16_000)],
      ] as const,
      2,
    ),
  )('is linear on %s', (_, text) => {
    expectCpuBelow(0.5, () => expect(withoutMedia(text).removed).toBe(0))
  })
})
