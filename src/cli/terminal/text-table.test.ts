import { describe, expect, it } from 'vitest'
import { textTable } from './text-table.ts'

describe('textTable', () => {
  it('pads columns to their widest cell', () => {
    expect(
      textTable(
        ['ID', 'NAME', 'X'],
        [
          ['1', 'long name', ''],
          ['22', 'b', 'y'],
        ],
      ),
    ).toBe('ID  NAME       X\n1   long name\n22  b          y')
  })

  it('escapes cells that would control the terminal', () => {
    const table = textTable(['A'], [['\u001b[2Jx\ny']])
    expect([table.includes('\u001b'), table.split('\n').length]).toEqual([false, 2])
  })
})
