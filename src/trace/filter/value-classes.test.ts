import { expect, it } from 'vitest'
import { VALUE_CLASSES, classTerms } from './value-classes.ts'
import { parseFilter } from './filter.ts'

it('classes of latency and tokens have a text and a filter', () => {
  expect(classTerms('latency', 0)).toEqual({ value: 'below 100 ms', filter: 'lt(latency, "100ms")' })
  expect(classTerms('latency', 300)).toEqual({
    value: '300 ms to 1 s',
    filter: 'and(gte(latency, "300ms"), lt(latency, "1000ms"))',
  })
  expect(classTerms('tokens', 1_000_000)).toEqual({
    value: 'at least 1000000',
    filter: 'gte(total_tokens, 1000000)',
  })
  for (const field of ['latency', 'tokens'] as const)
    for (const lower of VALUE_CLASSES[field])
      expect(parseFilter(classTerms(field, lower).filter)).toBeDefined()
})
