import { describe, expect, it, vi } from 'vitest'
import { retry } from './retry.ts'
import { eventually } from '../../test/support/eventually.ts'

/** Fails `times` times with the error `busy 1`, `busy 2`, …, then answers. */
function failing(times: number): { attempts(): number; work(): Promise<string> } {
  let attempts = 0
  return {
    attempts: () => attempts,
    async work() {
      attempts += 1
      if (attempts <= times) throw new Error(`busy ${attempts}`)
      return 'done'
    },
  }
}

describe('retry', () => {
  it('repeats the work until it succeeds, and reports each failure with its number', async () => {
    const { work } = failing(2)
    const onRetry = vi.fn<(error: unknown, failures: number) => void>()
    expect(await retry(work, { pauses: [0], onRetry })).toBe('done')
    expect(onRetry.mock.calls).toEqual([
      [new Error('busy 1'), 1],
      [new Error('busy 2'), 2],
    ])
  })

  it('throws the first error that may not be retried', async () => {
    const { attempts, work } = failing(9)
    const retrying = retry(work, { pauses: [0], mayRetry: (_error, failures) => failures < 3 })
    await expect(retrying).rejects.toThrow('busy 3')
    expect(attempts()).toBe(3)
  })

  it('uses its pauses in order, and the last one repeatedly', async () => {
    vi.useFakeTimers()
    const { attempts, work } = failing(3)
    const retrying = retry(work, { pauses: [10, 20] })
    const made: number[] = []
    for (const ms of [9, 1, 19, 1, 19, 1]) {
      await vi.advanceTimersByTimeAsync(ms)
      made.push(attempts())
    }
    vi.useRealTimers()
    expect(made).toEqual([1, 2, 2, 3, 3, 4])
    expect(await retrying).toBe('done')
  })

  it('ends with its signal, in a pause or in the work, without another attempt or an error', async () => {
    const inPause = new AbortController()
    const { attempts, work } = failing(9)
    const pausing = retry(work, { pauses: [2 ** 31 - 1], signal: inPause.signal })
    await eventually(async () => expect(attempts()).toBe(1))
    inPause.abort()
    expect(await pausing).toBeUndefined()
    expect(await retry(work, { pauses: [0], signal: inPause.signal })).toBeUndefined()
    expect(attempts()).toBe(1)

    const inWork = new AbortController()
    const fails = async (): Promise<never> => {
      inWork.abort()
      throw new Error('stopped')
    }
    expect(await retry(fails, { pauses: [0], mayRetry: () => false, signal: inWork.signal })).toBeUndefined()
  })
})
