import { describe, expect, it } from 'vitest'
import { chooseFiles } from './choose-files.ts'

describe('the long tests that cover a change', () => {
  it('are the nearest ones first, and the quicker of two that are as near', () => {
    const candidates = [
      { file: 'far', seconds: 1, distance: 4 },
      { file: 'near, slow', seconds: 30, distance: 1 },
      { file: 'near, quick', seconds: 2, distance: 1 },
      { file: 'changed', seconds: 90, distance: 0 },
    ]
    expect(chooseFiles(candidates, 1_000).chosen.map(({ file }) => file)).toEqual([
      'changed',
      'near, quick',
      'near, slow',
      'far',
    ])
  })

  it('fill the time; a file that does not fit is named, and a quicker one after it is still chosen', () => {
    const candidates = [
      { file: 'a', seconds: 50, distance: 0 },
      { file: 'b', seconds: 60, distance: 1 },
      { file: 'c', seconds: 40, distance: 2 },
    ]
    const { chosen, leftOut } = chooseFiles(candidates, 100)
    expect(chosen.map(({ file }) => file)).toEqual(['a', 'c'])
    expect(leftOut.map(({ file }) => file)).toEqual(['b'])
  })

  it('are not those that reach no change', () => {
    expect(chooseFiles([{ file: 'a', seconds: 1, distance: undefined }], 100)).toEqual({
      chosen: [],
      leftOut: [],
    })
  })
})
