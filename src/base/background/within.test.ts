import { expect, it, vi } from 'vitest'
import { within } from './within.ts'

const NEVER = new Promise<never>(() => undefined)

it('work that ends in time gives its own result or error, and what is late is not asked', async () => {
  const late = vi.fn()
  await expect(within(Promise.resolve(1), 60_000, late)).resolves.toBe(1)
  await expect(within(Promise.reject(new Error('broken')), 60_000, late)).rejects.toThrow('broken')
  expect(late).not.toHaveBeenCalled()
})

it('work that takes longer gives what is late: a result or an error', async () => {
  await expect(within(NEVER, 1, () => 'late')).resolves.toBe('late')
  const late = (): never => {
    throw new Error('too late')
  }
  await expect(within(NEVER, 1, late)).rejects.toThrow('too late')
})
