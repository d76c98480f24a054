import { expect, it } from 'vitest'
import { defaultTtl } from './default-ttl.ts'

it.each([
  [null, null],
  [{ strategy: 'delete' }, null],
  [{ default_ttl: '60' }, null],
  [{ default_ttl: 60 }, { strategy: 'delete', ttl_minutes: 60 }],
  [
    { default_ttl: 60, strategy: 'keep_latest' },
    { strategy: 'keep_latest', ttl_minutes: 60 },
  ],
])('new threads with checkpointer.ttl %j live for %j', (settings, ttl) => {
  expect(defaultTtl(settings)).toEqual(ttl)
})
