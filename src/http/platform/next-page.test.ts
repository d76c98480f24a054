import { expect, it } from 'vitest'
import { boundedPage } from './next-page.ts'

it('a list is returned in pages of limited bytes, to its end', () => {
  const all = Array.from({ length: 10 }, (_, n) => ({ n, text: 'x'.repeat(100) }))
  const seen: unknown[] = []
  let offset: number | undefined = 0
  let pages = 0
  while (offset !== undefined) {
    const { body, headers } = boundedPage(all, offset, 350)
    expect(JSON.stringify(body).length).toBeLessThan(360)
    seen.push(...body)
    pages++
    offset = headers['x-pagination-next'] as number | undefined
  }
  expect(seen).toEqual(all)
  expect(pages).toBe(5)
  expect(boundedPage(all, 4, 10).body).toEqual([all[4]])
  expect(boundedPage(all, 10)).toEqual({ headers: {}, body: [] })
})

it('a page is limited in bytes, not in characters', () => {
  const all = Array.from({ length: 4 }, () => '漢'.repeat(100))
  expect(boundedPage(all, 0, 650).body).toHaveLength(2)
})
