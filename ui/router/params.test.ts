import { describe, expect, it } from 'vitest'
import { frozenAddress } from './frozen-address.ts'
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

it('an address is frozen: a range back from now becomes two times, all else stays', () => {
  const now = Date.parse('2026-11-23T12:00:00Z')
  const frozen = new URL(frozenAddress('http://h/app/projects/a?view=runs&t=1d&q=x', now))
  expect(Object.fromEntries(frozen.searchParams)).toEqual({
    view: 'runs',
    q: 'x',
    from: '2026-11-22T12:00:00.000Z',
    to: '2026-11-23T12:00:00.000Z',
  })
  for (const same of ['http://h/app/usage', 'http://h/a?t=all', 'http://h/a?from=2026&t=1h'])
    expect(frozenAddress(same, now)).toBe(same)
})
