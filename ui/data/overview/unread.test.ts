import { expect, it } from 'vitest'
import { countUnread, reportOf } from './unread.ts'

const JS = { runtime: { sdk: 'langsmith-js', sdk_version: '0.10.5' } }
const SPAN = { otel_span: { scope: { name: 'openinference', version: '1.2' } } }
const unread = (numbers: string) => [
  { code: 'no_price', message: 'The cost is unknown: the model is missing.' },
  {
    code: 'usage_unread',
    message: `These numbers are in no table of usage and were not read: ${numbers}. outputs.usage has too many keys; only the first ones were read.`,
  },
]

it('U7: unread numbers are grouped by name and by the client with its version, with lines to report them', () => {
  const numbers = countUnread([
    { extra: JS, issues: unread('outputs.usage.holo_tokens 37, outputs.usage.parts[0].x 2') },
    { extra: JS, issues: unread('outputs.usage.holo_tokens 41, outputs.usage.parts[3].x 5 and 2 more') },
    { extra: SPAN, issues: unread('extra.otel_span.attributes.gen_ai.usage.holo.input_tokens 1.5') },
    { extra: JS, issues: [] },
    {},
  ])
  expect(numbers).toEqual([
    { name: 'usage.holo_tokens', sender: 'langsmith-js 0.10.5', value: '37', calls: 2 },
    { name: 'usage.parts[].x', sender: 'langsmith-js 0.10.5', value: '2', calls: 2 },
    { name: 'gen_ai.usage.holo.input_tokens', sender: 'openinference 1.2', value: '1.5', calls: 1 },
  ])
  expect(reportOf(numbers.slice(0, 1))).toBe(
    'usage_unread usage.holo_tokens = 37 (langsmith-js 0.10.5, calls: 2)',
  )
})
