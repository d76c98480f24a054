import { describe, expect, it } from 'vitest'
import { splitStatements } from './migrate.ts'

describe('splitStatements', () => {
  it('splits where a line ends with a semicolon', () => {
    expect(splitStatements("SELECT 'a;b';  \n\nSELECT 2\n+ 3;\nSELECT 4")).toEqual([
      "SELECT 'a;b'",
      'SELECT 2\n+ 3',
      'SELECT 4',
    ])
  })

  it('drops parts with comments only, and keeps comments within statements', () => {
    expect(splitStatements('-- one;\n-- two\n')).toEqual([])
    expect(splitStatements('-- why\nSELECT 1;\n  -- end\n')).toEqual(['-- why\nSELECT 1'])
    expect(splitStatements('')).toEqual([])
  })
})
