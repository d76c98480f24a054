import { describe, expect, it } from 'vitest'
import {
  countUnknown,
  type ListedRun,
  type RunPage,
  type RunPages,
  runsOf,
  withChanges,
  withNewestPage,
} from './run-pages.ts'

const run = (id: string, name = 'run'): ListedRun => ({
  id,
  trace_id: id,
  name,
  run_type: 'chain',
  start_time: null,
})
const page = (ids: string, next: string | null = null): RunPage => ({
  runs: Array.from(ids, (id) => run(id)),
  cursors: { next },
})
const pages = (...list: RunPage[]): RunPages => ({ pages: list, pageParams: list.map(() => '') })
const ids = (list: RunPages | undefined): string =>
  runsOf(list)
    .map(({ id }) => id)
    .join('')

describe('a list of runs that goes on', () => {
  it('takes new runs at its begin, each run once, and keeps the cursor behind its end', () => {
    const joined = withNewestPage(pages(page('dcb', 'after b'), page('a', 'after a')), page('fed', 'after d'))
    expect(ids(joined)).toBe('fedcba')
    expect(joined?.pages.map(({ cursors }) => cursors.next)).toEqual(['after b', 'after a'])
  })

  it('is the newest page when it was empty', () => {
    expect(ids(withNewestPage(pages(page('')), page('ba')))).toBe('ba')
  })

  it('must be read again when runs may be missing between the newest page and its begin', () => {
    expect(withNewestPage(pages(page('ba')), page('ih', 'after h'))).toBeUndefined()
    expect(ids(withNewestPage(pages(page('ba')), page('dc')))).toBe('dcba')
  })

  it('shows changed runs where they are', () => {
    const changed = withChanges(pages(page('cb'), page('a')), [run('b', 'ended'), run('z')])
    expect(ids(changed)).toBe('cba')
    expect(runsOf(changed)[1]?.name).toBe('ended')
  })

  it('knows how many runs are new', () => {
    expect(countUnknown(pages(page('cb')), page('edcb'))).toBe(2)
  })
})
