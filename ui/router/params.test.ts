import { describe, expect, it } from 'vitest'
import { matchPath } from './match.ts'
import { textParam, withParams, wordParam } from './params.ts'

describe('parameters of the address', () => {
  it('are not written when they have their default value', () => {
    const view = wordParam('view', ['traces', 'runs'])
    expect([view.read(undefined), view.read('runs'), view.read('other')]).toEqual([
      'traces',
      'runs',
      'traces',
    ])
    expect([view.write('traces'), view.write('runs')]).toEqual([undefined, 'runs'])
    const text = textParam('q')
    expect([text.read(undefined), text.write(''), text.write('日本')]).toEqual(['', undefined, '日本'])
  })

  it('change without changing others', () => {
    expect(withParams('?ws=1&q=a', { q: undefined, run: 'x y' })).toBe('?ws=1&run=x+y')
    expect(withParams('?q=a', { q: undefined })).toBe('')
  })
})

describe('paths', () => {
  it('match with decoded parameters', () => {
    expect(matchPath('/traces/{id}', '/traces/a%2Fb')).toEqual({ id: 'a/b' })
    expect(matchPath('/projects', '/projects/')).toEqual({})
    expect(matchPath('/traces/{id}', '/traces/')).toBeUndefined()
    expect(matchPath('/traces/{id}', '/traces/%')).toBeUndefined()
    expect(matchPath('/traces/{id}', '/projects/a')).toBeUndefined()
  })
})
