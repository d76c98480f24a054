import { QueryClient, QueryObserver } from '@tanstack/react-query'
import { expect, it } from 'vitest'
import { readAfterChange } from './read-after-change.ts'

it('a read that began before a change is followed by one more, which serves all changes until then', async () => {
  const queries = new QueryClient()
  const queryKey = ['shown']
  queries.setQueryData(queryKey, 0)
  let reads = 0
  const queryFn = async (): Promise<number> => {
    reads += 1
    return await Promise.resolve(reads)
  }
  const observer = new QueryObserver(queries, { queryKey, queryFn, staleTime: Number.POSITIVE_INFINITY })
  const leave = observer.subscribe(() => undefined)
  await Promise.all(['first', 'second', 'third'].map(() => readAfterChange(queries, { queryKey })))
  expect([reads, queries.getQueryData(queryKey)]).toEqual([2, 2])
  leave()
  queries.clear()
})
