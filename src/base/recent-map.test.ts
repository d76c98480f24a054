import { describe, expect, it } from 'vitest'
import { RecentMap } from './recent-map.ts'

describe('RecentMap', () => {
  it('drops the entries that were set or touched longest ago', () => {
    const map = new RecentMap<string, number>(2)
    map.set('a', 1).set('b', 2).set('a', 3).set('c', 4)
    expect([...map]).toEqual([
      ['a', 3],
      ['c', 4],
    ])
    expect([map.touch('a'), map.touch('b')]).toEqual([3, undefined])
    map.set('d', 5)
    expect([...map.keys()]).toEqual(['a', 'd'])
  })

  it('counts the sizes of the values that it holds, each once', () => {
    const map = new RecentMap<string, string>(10, (text) => text.length)
    map.set('a', 'xxxx').set('a', 'xxxxxx').set('b', 'yyyy')
    expect([...map.keys()]).toEqual(['a', 'b'])
    map.delete('a')
    map.delete('a')
    map.set('c', 'zzzzzz')
    expect([...map.keys()]).toEqual(['b', 'c'])
    map.set('d', 'w')
    expect([...map.keys()]).toEqual(['c', 'd'])
    map.clear()
    map.set('e', 'vvvvvvvvvv')
    expect([...map.keys()]).toEqual(['e'])
  })

  it('does not keep a value larger than its bound', () => {
    const map = new RecentMap<string, string>(3, (text) => text.length)
    map.set('a', 'x').set('b', 'yyyy')
    expect([...map.keys()]).toEqual([])
  })
})
