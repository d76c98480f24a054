import { describe, expect, it } from 'vitest'
import { otherColumns, readColumns, USUAL_COLUMNS, writeColumns } from './column-ids.ts'

describe('the columns of the list', () => {
  it('are those of the address, in its order, each once', () => {
    expect(readColumns('cost,name,cost,metadata.customer')).toEqual(['cost', 'name', 'metadata.customer'])
  })

  it('are the usual ones where the address names none that is known', () => {
    expect(readColumns('')).toBe(USUAL_COLUMNS)
    expect(readColumns('nonsense,metadata.,%E0%A4%A')).toBe(USUAL_COLUMNS)
  })

  it('are written so that they are read again, with any key of metadata', () => {
    const ids = ['name', 'metadata.a,b 日本 %']
    expect(readColumns(writeColumns(ids) ?? '')).toEqual(ids)
    expect(writeColumns(USUAL_COLUMNS)).toBeUndefined()
  })

  it('offer what is not shown', () => {
    const offered = otherColumns(['name', 'metadata.x'], ['x', 'y'])
    expect(offered).toContain('metadata.y')
    expect(offered).not.toContain('metadata.x')
    expect(offered).not.toContain('name')
  })
})
