import { describe, expect, it } from 'vitest'
import { cutIntoPieces, hashesOf, PIECED_CHARS, textParam } from './large-text.ts'

const OWNER = { thread_id: 't', deployment_id: 'd', workspace_id: 'w' }

/** Text that does not repeat itself; with `wide`, of characters of three bytes. */
function textOf(chars: number, wide = false): string {
  let state = 88172645
  const text = Array.from({ length: chars }, () => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0
    return wide ? String.fromCharCode(0x4e00 + (state >>> 20)) : (state >>> 27).toString(36)
  })
  return text.join('')
}

function joined({ pieces }: ReturnType<typeof cutIntoPieces>): string {
  return pieces.map(({ piece }) => piece()).join('')
}

/** The share of the characters of `text` that are in pieces which `known` does not have. */
function newShare(text: string, known: string, isBase64 = false): number {
  const before = new Set(cutIntoPieces({ text: known, isBase64 }).pieces.map(({ hash }) => hash))
  const { pieces } = cutIntoPieces({ text, isBase64 })
  const added = pieces.filter(({ hash }) => !before.has(hash)).map(({ piece }) => piece().length)
  return added.reduce((sum, one) => sum + one, 0) / text.length
}

describe('a large text', () => {
  it('is the same when its pieces are joined, whatever its characters', () => {
    for (const text of [
      textOf(300_000),
      textOf(300_000, true),
      'x'.repeat(1_000_000),
      '@',
      `@${textOf(70_000)}`,
    ]) {
      const cut = cutIntoPieces({ text, isBase64: false })
      expect(joined(cut)).toBe(text)
      expect(hashesOf(cut.list)).toEqual(cut.pieces.map(({ hash }) => hash))
      expect(Number(cut.list.slice(1, 13))).toBe(Buffer.byteLength(text))
    }
  })

  it('has the bytes of its base64, in parts with padding', () => {
    const bytes = Buffer.from(textOf(400_001))
    const cut = cutIntoPieces({ text: bytes.toString('base64'), isBase64: true })
    const parts = cut.pieces.map(({ piece }) => Buffer.from(piece(), 'base64'))
    expect(Buffer.concat(parts).equals(bytes)).toBe(true)
    expect(cut.pieces.length).toBeGreaterThan(1)
    expect(Number(cut.list.slice(1, 13))).toBe(joined(cut).length)
  })

  it('shares no piece with the same bytes in base64, which are stored in another form', () => {
    const text = textOf(400_000)
    const bytes = cutIntoPieces({ text: Buffer.from(text).toString('base64'), isBase64: true })
    const known = new Set(cutIntoPieces({ text, isBase64: false }).pieces.map(({ hash }) => hash))
    expect(bytes.pieces.filter(({ hash }) => known.has(hash))).toEqual([])
  })

  it('stays as it is if its base64 is written in an unusual way', () => {
    const text = `${Buffer.from(textOf(100_000)).toString('base64')}\n!`
    expect(joined(cutIntoPieces({ text, isBase64: true }))).toBe(text)
  })

  it('shares the pieces of what it has in common with another', () => {
    const text = textOf(4_000_000)
    expect(newShare(`{"input":{"text":"${text}"},"steps":1}`, `{"text":"${text}"}`)).toBeLessThan(0.1)
    expect(newShare(`${text} and more`, text)).toBeLessThan(0.1)
    expect(newShare(text.slice(0, 2_000_000) + 'in the middle' + text.slice(2_000_000), text)).toBeLessThan(
      0.1,
    )
    const [one, other] = [`(1)${text}`, `(1234)${text}`].map((one) => Buffer.from(one).toString('base64'))
    expect(newShare(one!, other!, true)).toBeLessThan(0.1)
    expect(newShare(text.toUpperCase(), text)).toBe(1)
  })
})

it('a small text is stored as it is, unless it looks like a list of pieces', () => {
  const small = 'x'.repeat(PIECED_CHARS - 1)
  expect(textParam(small, OWNER)).toBe(small)
  expect(textParam(null, OWNER)).toBe(null)
  expect(textParam('@000000000001', OWNER)).toEqual({ text: '@000000000001', owner: OWNER, isBase64: false })
  expect(textParam(`${small}x`, OWNER)).toMatchObject({ text: `${small}x` })
})
