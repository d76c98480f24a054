import { expect, it, vi } from 'vitest'
import { createLogger } from '../base/log.ts'
import { shareAgain, type ShareAgainParts } from './share-again.ts'

/** A server with two active revisions. Its shared store fails until `share` is mocked otherwise. */
function server() {
  const share = vi.fn(async (..._given: unknown[]) => Promise.reject(new Error('the store is away')))
  const one = (name: string) => ({ deployment: { name }, revision: { id: name } })
  const call = shareAgain({
    store: { active: async () => [one('a'), one('b')] },
    work: { share },
    logger: createLogger({ level: 'silent' }),
    signal: new AbortController().signal,
  } as unknown as ShareAgainParts)
  /** The numbers of the calls, from 1 on, that tried to store. */
  const tries = async (calls: number): Promise<number[]> => {
    const found: number[] = []
    for (let number = 1; number <= calls; number++) {
      share.mockClear()
      await call()
      if (share.mock.calls.length > 0) found.push(number)
    }
    return found
  }
  return { share, call, tries }
}

it('P-37: files that cannot be stored are tried again less and less often, down to every 30 minutes', async () => {
  const { share, tries } = server()
  expect(await tries(121)).toEqual([1, 3, 7, 15, 31, 61, 91, 121])
  expect(share).toHaveBeenCalledTimes(2)
})

it('P-37: once they are stored, each call looks again', async () => {
  const { share, tries } = server()
  await tries(1)
  share.mockImplementation(async () => undefined as never)
  expect(await tries(5)).toEqual([2, 3, 4, 5])
})

it('P-37: calls that overlap try once', async () => {
  const { share, call } = server()
  await Promise.all([call(), call(), call()])
  expect(share).toHaveBeenCalledTimes(2)
})
