import { expect, it } from 'vitest'
import { contentOf, showsView, viewPath } from './view-address.ts'

it('a view keeps filter, range, order and columns of an address, and opens it again', () => {
  const search = '?view=runs&q=eq(status,"error")&t=7d&sort=-latency&cols=name,cost&peek=1&ws=w'
  const content = contentOf(search)
  expect(content).toEqual({
    filter: 'eq(status,"error")',
    params: { view: 'runs', t: '7d', sort: '-latency', cols: 'name,cost' },
  })
  const path = viewPath('p', content)
  expect(path.startsWith('/projects/p?')).toBe(true)
  expect(contentOf(path.slice(path.indexOf('?')))).toEqual(content)
  expect([showsView(search, content), showsView('?q=x', content)]).toEqual([true, false])
})

it('parameters that the page does not know are left out, and the order of names does not count', () => {
  expect(viewPath('p', { filter: '', params: { ws: 'w', odd: '1' } })).toBe('/projects/p')
  expect(showsView('?t=1d&view=runs', { filter: '', params: { t: '1d', view: 'runs' } })).toBe(true)
})
