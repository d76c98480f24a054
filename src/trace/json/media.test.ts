import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { tries } from '../../../test/support/properties.ts'
import { mediaAt, withMediaLinks } from './media.ts'

const LINK = '/media?path='
const PNG = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), randomBytes(6000)])
const base64 = PNG.toString('base64')

const encode = (text: string) => new Uint8Array(Buffer.from(text))
const linked = (value: unknown): unknown => JSON.parse(shown(JSON.stringify(value)))
const shown = (json: string) => Buffer.from(withMediaLinks(encode(json), LINK)).toString()
const refTo = (pointer: string, mime = 'image/png', size = PNG.length) => ({
  $media: LINK + encodeURIComponent(pointer),
  size,
  mime,
})

describe('N14: files in base64 are replaced by links', () => {
  it.each<[string, string, string, Buffer]>([
    ['base64', base64, 'image/png', PNG],
    ['a data: URL', `data:image/png;base64,${base64}`, 'image/png', PNG],
    [
      'a data: URL of another type',
      `data:image/svg+xml;charset=utf-8;base64,${base64}`,
      'image/svg+xml',
      PNG,
    ],
    ['a data: URL without a type', `data:;base64,${base64}`, 'image/png', PNG],
    ['base64 for URLs', PNG.toString('base64url'), 'image/png', PNG],
    ['base64 in lines', base64.replace(/.{76}/g, '$&\r\n'), 'image/png', PNG],
    ['base64 of no known type', randomBytes(4000).toString('base64'), 'application/octet-stream', PNG],
  ])('%s', (_what, text, mime) => {
    const value = { a: [1, { 'x/y~z "': text }], b: 'short' }
    const pointer = '/a/1/x~1y~0z "'
    const bytes = Buffer.from(text.replace(/^data:[^,]*,/, ''), 'base64')
    expect(linked(value)).toEqual({
      a: [1, { 'x/y~z "': refTo(pointer, mime, bytes.length) }],
      b: 'short',
    })
    const media = mediaAt(encode(JSON.stringify(value)), pointer)
    expect([media?.mime, Buffer.from(media!.bytes).equals(bytes)]).toEqual([mime, true])
  })

  it('also with escaped slashes, as some clients write them', () => {
    const json = `{"url":"data:image\\/png;base64,${base64.replaceAll('/', '\\/')}"}`
    expect(JSON.parse(shown(json))).toEqual({ url: refTo('/url') })
  })

  it.each([
    ['a short file', base64.slice(0, 4096)],
    ['prose', 'A sentence, and another one. '.repeat(300)],
    ['prose of one script without spaces', '你好'.repeat(3000)],
    ['one letter', 'a'.repeat(5000)],
    ['a hex number', PNG.toString('hex')],
    ['base64 with something behind it', `${base64} and more`],
    ['a data: URL that is not base64', `data:image/svg+xml,${'<svg/>'.repeat(1000)}`],
    ['a key', { [base64]: 1 }],
  ])('but not %s', (_what, value) => {
    const json = JSON.stringify({ value })
    expect(shown(json)).toBe(json)
    expect(mediaAt(encode(json), '/value')).toBeUndefined()
  })

  it('and every other byte stays, for any JSON', () => {
    const text = fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.constantFrom('\\', '"', '\\"', ',', '{', '~1', base64),
    )
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { maxDepth: 4 },
        text,
        fc.constantFrom(1, null, true, 12345678901234567890n.toString()),
        fc.array(tie('tree'), { maxLength: 4 }),
        fc.dictionary(text, tie('tree'), { maxKeys: 4 }),
      ),
    }))
    fc.assert(
      fc.property(tree, fc.nat(2), (value, space) => {
        const json = JSON.stringify(value, null, space)
        const back = JSON.parse(shown(json), (_key, one: unknown) => {
          const { $media } = (one ?? {}) as { $media?: string }
          if ($media === undefined) return one
          const media = mediaAt(encode(json), decodeURIComponent($media.slice(LINK.length)))
          return Buffer.from(media!.bytes).toString('base64')
        }) as unknown
        expect(back).toEqual(JSON.parse(json))
        if (!json.includes(base64)) expect(shown(json)).toBe(json)
      }),
      tries(200),
    )
  })

  it('no file is at any other place', () => {
    const json = encode(JSON.stringify({ a: base64 }))
    for (const pointer of ['', '/', '/b', 'a', '/a/0']) expect(mediaAt(json, pointer)).toBeUndefined()
  })
})
