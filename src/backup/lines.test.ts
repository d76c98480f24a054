import { describe, expect, it } from 'vitest'
import { countLines, linesOf, wholeLines } from './lines.ts'

const TEXT = 'one\ntwo\n\nä fourth line\nlast\n'

/** The text in pieces of `size` bytes. */
async function* inPieces(size: number, text = TEXT): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(text)
  for (let i = 0; i < bytes.length; i += size) yield bytes.subarray(i, i + size)
}

async function collected<T>(source: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const one of source) all.push(one)
  return all
}

describe('wholeLines', () => {
  it.each([1, 2, 3, 7, 100])('cuts pieces of %s bytes at the ends of lines only', async (size) => {
    for (const least of [1, 5, 1000]) {
      const pieces = await collected(wholeLines(inPieces(size), { size: least, max_line: 100 }))
      expect(Buffer.concat(pieces).toString()).toBe(TEXT)
      for (const piece of pieces) expect(piece.at(-1)).toBe(0x0a)
      for (const piece of pieces.slice(0, -1)) expect(piece.length).toBeGreaterThanOrEqual(least)
      expect(pieces.reduce((sum, piece) => sum + countLines(piece), 0)).toBe(5)
    }
  })

  it('holds no line that is longer than allowed', async () => {
    const read = collected(wholeLines(inPieces(10, 'x'.repeat(200)), { size: 5, max_line: 100 }))
    await expect(read).rejects.toMatchObject({ code: 'backup_unusable' })
  })

  it('yields nothing for nothing, and keeps a last line without an end', async () => {
    expect(await collected(wholeLines(inPieces(1, ''), { size: 1, max_line: 100 }))).toEqual([])
    expect(String(await collected(wholeLines(inPieces(2, 'a\nbc'), { size: 1, max_line: 100 })))).toBe(
      'a\n,bc',
    )
  })
})

describe('linesOf', () => {
  it('gives the lines without their ends', () => {
    expect([...linesOf(Buffer.from(TEXT))]).toEqual(['one', 'two', '', 'ä fourth line', 'last'])
    expect([...linesOf(Buffer.from('a\nb'))]).toEqual(['a', 'b'])
  })
})
