import { describe, expect, it } from 'vitest'
import type { Stamp } from './id.ts'
import type { Page } from './event-store.ts'
import { createSharedPages } from './shared-pages.ts'

const THREAD = { workspace_id: 'w', deployment_id: 'd', thread_id: 't' }
const BEGIN: Stamp = [0, -1]

function pageOf(position: number, total: number, data = '1'): Page {
  const chunk = {
    position,
    offset: 0,
    ms: 1,
    seq: position,
    items: [{ run_id: null, event: 'values', data }],
  }
  return { chunks: [chunk], total, last: [1, total - 1], forgotten: BEGIN }
}

function createStore(answer: (after: Stamp) => Page | undefined) {
  let asked = 0
  const pages = createSharedPages({
    page: async (_thread, after) => {
      asked++
      return answer(after)
    },
  })
  return { pages, asked: () => asked }
}

describe('shared pages', () => {
  it('are read once for readers at the same position, which share their strings', async () => {
    const { pages, asked } = createStore(() => pageOf(0, 9))
    const [one, other] = await Promise.all([pages.page(THREAD, BEGIN), pages.page(THREAD, BEGIN)])
    expect(await pages.page(THREAD, BEGIN)).toBe(one)
    expect(other).toBe(one)
    expect(asked()).toBe(1)
    await pages.page(THREAD, [1, 4])
    await pages.page({ ...THREAD, thread_id: 'other' }, BEGIN)
    expect(asked()).toBe(3)
  })

  it.each([
    ['the end of a log', () => pageOf(0, 1)],
    ['no log', () => undefined],
  ])('of %s are read again, since events may follow them', async (_name, answer) => {
    const { pages, asked } = createStore(answer)
    await pages.page(THREAD, BEGIN)
    await pages.page(THREAD, BEGIN)
    expect(asked()).toBe(2)
  })

  it('of a deleted log are not reused', async () => {
    const { pages, asked } = createStore(() => pageOf(0, 9))
    await pages.page(THREAD, BEGIN)
    pages.forget({ ...THREAD, thread_id: 'other' })
    await pages.page(THREAD, BEGIN)
    expect(asked()).toBe(1)
    pages.forget(THREAD)
    await pages.page(THREAD, BEGIN)
    expect(asked()).toBe(2)
  })

  it('are cached up to a limit', async () => {
    const data = 'x'.repeat(7 << 20)
    const { pages, asked } = createStore(([ms]) => pageOf(ms, 99, data))
    for (const ms of [1, 2, 3]) await pages.page(THREAD, [ms, 0])
    await pages.page(THREAD, [3, 0])
    expect(asked()).toBe(3)
    await pages.page(THREAD, [1, 0])
    expect(asked()).toBe(4)
  })
})
