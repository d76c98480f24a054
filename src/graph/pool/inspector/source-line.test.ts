import { transformSync } from 'esbuild'
import { describe, expect, it } from 'vitest'
import { sourceLine } from './source-line.ts'

const SOURCE = `const text: string = 'a'

interface Gone {
  n: number
}
export function spin(): void {
  while (true) {}
}
`

describe('the line of the source', () => {
  it('is that of the TypeScript file, although its compiled code is one line', () => {
    const { code } = transformSync(SOURCE, { loader: 'ts', sourcemap: 'inline', minifyWhitespace: true })
    const [line = '', mapUrl] = code.split('\n//# sourceMappingURL=')
    expect(sourceLine({ lineNumber: 0, columnNumber: line.indexOf('while') }, mapUrl?.trim())).toBe(7)
    expect(sourceLine({ lineNumber: 0, columnNumber: line.indexOf('const') }, mapUrl?.trim())).toBe(1)
  })

  it('is that of the code without a map, or with one that cannot be read', () => {
    const text = Buffer.from('{"version":3,"mappings":7}').toString('base64')
    for (const mapUrl of [undefined, '', 'file:///a.map', `data:application/json;base64,${text}`])
      expect(sourceLine({ lineNumber: 4 }, mapUrl)).toBe(5)
  })
})
