import { expect, it } from 'vitest'
import { groupsOf, nextOffset, PROJECTS_PER_PAGE, projectsOf, readEveryMs } from './project-pages.ts'

const page = (from: number, count = PROJECTS_PER_PAGE) =>
  Array.from({ length: count }, (_, at) => ({ id: `p${from + at}` }))

it('the list of projects goes on after a full page, and ends after any other', () => {
  expect([nextOffset([page(0)]), nextOffset([page(0), page(100)])]).toEqual([100, 200])
  expect([nextOffset([]), nextOffset([[]]), nextOffset([page(0), page(100, 99)])]).toEqual([
    undefined,
    undefined,
    undefined,
  ])
})

it('the list of projects is read less often the more pages it has, and often while it is empty', () => {
  const pages = [page(0), page(100), page(200)]
  expect([0, 1, 2, 3].map((count) => readEveryMs(pages.slice(0, count), false))).toEqual([
    10_000, 10_000, 20_000, 30_000,
  ])
  expect([readEveryMs([[]], false), readEveryMs([[]], true)]).toEqual([700, 10_000])
})

it('a project that was moved to the next page is listed once', () => {
  expect(projectsOf([page(0, 3), page(2, 2)]).map(({ id }) => id)).toEqual(['p0', 'p1', 'p2', 'p3'])
})

it('groups have at most so many items', () => {
  expect(groupsOf([1, 2, 3, 4, 5], 2)).toEqual([[1, 2], [3, 4], [5]])
  expect(groupsOf([], 2)).toEqual([])
})
