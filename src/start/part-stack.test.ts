import { expect, it, vi } from 'vitest'
import { createLogger } from '../base/log.ts'
import { PartStack } from './part-stack.ts'

it('ends parts in reverse order, also after one that fails, which is logged', async () => {
  const logger = createLogger({ level: 'silent' })
  const error = vi.spyOn(logger, 'error')
  const parts = new PartStack(logger)
  const ended: string[] = []
  parts.defer(() => void ended.push('first'))
  parts.defer(() => {
    throw new Error('broken')
  })
  parts.defer(async () => void ended.push('last'))
  await parts.disposeAsync()
  expect(ended).toEqual(['last', 'first'])
  expect(error).toHaveBeenCalledTimes(1)
})

it('does not wait for a part that never ends, once its time is limited', async () => {
  const parts = new PartStack(createLogger({ level: 'silent' }))
  const ended: string[] = []
  parts.defer(() => void ended.push('first'))
  parts.defer(() => new Promise(() => undefined))
  parts.limitTo(0)
  await parts.disposeAsync()
  expect(ended).toEqual(['first'])
})
