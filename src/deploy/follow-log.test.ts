import { expect, it } from 'vitest'
import { type FollowedLines, followLog } from './follow-log.ts'
import type { LogLine, LogQuery } from './stores/log-lines.ts'

const KINDS = ['build', 'deploy', 'server'] as const

function open() {
  const stored: LogLine[] = []
  const asked: LogQuery[] = []
  const listeners = new Set<() => void>()
  const gone = new AbortController()
  let isDeleted = false
  const parts = {
    store: {
      newest: async () => stored.at(-1)?.at_us ?? 0,
      async read(_id: string, query: LogQuery) {
        asked.push(query)
        const { text = '', after_us = 0, to_us = Infinity, order, limit } = query
        const found = stored.filter(
          ({ at_us, message }) => at_us > after_us && at_us <= to_us && message.includes(text),
        )
        return (order === 'asc' ? found : found.toReversed()).slice(0, limit)
      },
    },
    log: {
      listen: (_id: string, listener: () => void) => (
        listeners.add(listener), () => void listeners.delete(listener)
      ),
    },
    isThere: async () => !isDeleted,
  }
  return {
    asked,
    listeners,
    gone,
    add(...messages: string[]) {
      for (const message of messages)
        stored.push({ at_us: stored.length + 1, revision_id: null, kind: 'server', level: 'INFO', message })
      for (const listener of listeners) listener()
    },
    remove: () => void (isDeleted = true),
    follow: (query: object = {}) => followLog(parts, 'd', { kinds: KINDS, limit: 2, ...query }, gone.signal),
  }
}
const next = async (parts: AsyncGenerator<FollowedLines>) => {
  const { value } = (await parts.next()) as { value: FollowedLines | undefined }
  return value && { lines: value.lines.map(({ message }) => message), cursor: value.cursor }
}

it('the newest lines come first, then what is stored, and nothing twice', async () => {
  const log = open()
  log.add('a', 'b', 'c')
  const parts = log.follow()
  expect(await next(parts)).toEqual({ lines: ['b', 'c'], cursor: 3 })
  const waiting = next(parts)
  log.add('d', 'e')
  expect(await waiting).toEqual({ lines: ['d', 'e'], cursor: 5 })
  log.gone.abort()
  expect(await next(parts)).toBeUndefined()
  expect(log.listeners.size).toBe(0)
})

it('goes on from a cursor; what the query leaves out is read once only', async () => {
  const log = open()
  log.add('a', 'no', 'b', 'no', 'no')
  const parts = log.follow({ text: 'b', after_us: 1 })
  expect(await next(parts)).toEqual({ lines: [], cursor: 1 })
  expect(await next(parts)).toEqual({ lines: ['b'], cursor: 5 })
  const waiting = next(parts)
  log.add('bb')
  expect(await waiting).toEqual({ lines: ['bb'], cursor: 6 })
  expect(log.asked.at(-1)).toMatchObject({ after_us: 5, to_us: 6 })
})

it('ends when the deployment is deleted', async () => {
  const log = open()
  const parts = log.follow()
  expect(await next(parts)).toEqual({ lines: [], cursor: 0 })
  log.remove()
  expect(await next(parts)).toBeUndefined()
})
