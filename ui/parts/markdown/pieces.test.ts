import { describe, expect, it } from 'vitest'
import { markdownPieces, plainPieces } from './pieces.ts'

const paragraph = (at: number): string => `Paragraph ${at} ${'word '.repeat(60)}`

describe('pieces of a long text (§7)', () => {
  it('of Markdown end between blocks, and have the whole text', () => {
    const text = Array.from({ length: 200 }, (_, at) => paragraph(at)).join('\n\n')
    const pieces = markdownPieces(text)
    expect(pieces.length).toBeGreaterThan(5)
    expect(pieces.join('\n')).toBe(text)
    expect(pieces.every((piece) => piece.startsWith('Paragraph'))).toBe(true)
    expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(10_000)
    expect(markdownPieces('short')).toEqual(['short'])
    expect(markdownPieces('')).toEqual([])
  })

  it('never end within a block of code, and within a list only when it is long', () => {
    const code = `\`\`\`\`js\n${'line\n\n'.repeat(5000)}\`\`\`\n\n\`\`\`\`\n`
    expect(markdownPieces(`${code}\nafter`)[0]).toContain('\n````')
    const list = Array.from({ length: 40 }, (_, at) => `${at + 1}. ${paragraph(at)}`).join('\n\n')
    expect(markdownPieces(list)).toHaveLength(1)
    expect(markdownPieces(Array.from({ length: 10 }, () => list).join('\n\n')).length).toBeGreaterThan(1)
  })

  it('of a plain text stay the same while it grows, and lose no word', () => {
    const words = Array.from({ length: 20_000 }, (_, at) => `tok${at}`)
    const text = words.join(' ')
    const pieces = plainPieces(text)
    expect(pieces.length).toBeGreaterThan(20)
    expect(pieces.join(' ')).toBe(text)
    const earlier = plainPieces(text.slice(0, 100_000))
    expect(pieces.slice(0, earlier.length - 1)).toEqual(earlier.slice(0, -1))
    const lines = plainPieces(`${'a b c\n'.repeat(5000)}end`)
    expect(lines.join('\n')).toBe(`${'a b c\n'.repeat(5000)}end`)
    expect(plainPieces('x'.repeat(50_000)).join('')).toBe('x'.repeat(50_000))
  })
})
